/** The headers of an answer as the HTTP parser gives them. */
type AnswerHeaders = Readonly<Record<string, string | readonly string[]>>;

/** How much of an answer's headers the delivery log keeps, as JSON text. */
const MAX_KEPT_HEADER_BYTES = 4 * 1024;

// What JSON writes for one character: \uXXXX.
const MAX_BYTES_PER_CHAR = 6;

/**
 * The JSON text of an answer's headers, at most `maxBytes` of UTF-8: those that came first, the last one cut where it
 * no longer fits. U+0000 and lone surrogates are taken out of the values first, never out of the text.
 * @param maxBytes  at least 2
 */
export function keptHeadersJson(headers: AnswerHeaders, maxBytes: number = MAX_KEPT_HEADER_BYTES): string {
  const text = JSON.stringify(headers);
  if (!text.includes('\\u') && Buffer.byteLength(text) <= maxBytes) return text;
  const clean = Object.entries(headers).map(([name, value]) => [plainText(name), cleanValue(value)] as const);
  const whole = JSON.stringify(Object.fromEntries(clean));
  return Buffer.byteLength(whole) <= maxBytes ? whole : cutHeaders(clean, maxBytes);
}

type Entry = readonly [name: string, value: string | string[]];

function cutHeaders(entries: readonly Entry[], maxBytes: number): string {
  const kept = new Map<string, string | string[]>();
  const textWith = (name: string, value: string | string[]) =>
    JSON.stringify(Object.fromEntries([...kept, [name, value]]));
  const excessOf = (name: string, value: string | string[]) => Buffer.byteLength(textWith(name, value)) - maxBytes;
  for (const [name, value] of entries) {
    if (excessOf(name, value) > 0) {
      const cut = cutValue(value, (shorter) => excessOf(name, shorter));
      if (cut !== null) kept.set(name, cut);
      break;
    }
    kept.set(name, value);
  }
  return JSON.stringify(Object.fromEntries(kept));
}

/** The longest beginning of a value that fits; of several values, the first one's. Null when nothing of it fits. */
function cutValue(value: string | string[], excessOf: (value: string) => number): string | null {
  let text = typeof value === 'string' ? value : (value[0] ?? '');
  for (let excess = excessOf(text); excess > 0; excess = excessOf(text)) {
    if (text === '') return null;
    text = text.slice(0, -Math.ceil(excess / MAX_BYTES_PER_CHAR)).replace(/[\ud800-\udbff]$/, '');
  }
  return text;
}

function cleanValue(value: string | readonly string[]): string | string[] {
  return typeof value === 'string' ? plainText(value) : value.map(plainText);
}

function plainText(text: string): string {
  return text.replaceAll('\u0000', '').toWellFormed();
}
