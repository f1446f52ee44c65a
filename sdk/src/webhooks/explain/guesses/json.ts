/**
 * The texts that the service may have written for a JSON text that was parsed and written again: without spaces, other
 * characters as they are, and its keys in the service's order. It writes metadata as the client has sent them: without
 * spaces, as JavaScript does, or with them and with escapes, as Python does. Empty when the text is no JSON object.
 */
export function guessJson(text: string): string[] {
  const value = parse(text);
  if (typeof value !== 'object' || value === null) return [];
  const ordered = inOrder(value, EVENT);
  return [value, ordered].flatMap((each) => STYLES.map((style) => write(each, style)));
}

type Style = { separator: string; colon: string; isAscii: boolean };
const JAVASCRIPT: Style = { separator: ',', colon: ':', isAscii: false };
const PYTHON: Style = { separator: ', ', colon: ': ', isAscii: true };
const STYLES = [JAVASCRIPT, PYTHON];

/** A number with the digits of its text: metadata may have more of them than a number of JavaScript holds. */
class Digits {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Runtimes before 2023 do not give the text of a number. */
type Context = { source?: string } | undefined;

function parse(text: string): unknown {
  const reviver = (_key: string, value: unknown, context?: Context) =>
    typeof value === 'number' && context?.source !== undefined ? new Digits(context.source) : value;
  try {
    return JSON.parse(text, reviver);
  } catch {
    return undefined;
  }
}

/**
 * @param metadata  how the value of a member `metadata` is written
 * @param isOwn     whether the value is of the service, and not inside of metadata
 */
function write(value: unknown, metadata: Style, style: Style = JAVASCRIPT, isOwn = true): string {
  const { separator, colon, isAscii } = style;
  if (value instanceof Digits) return isOwn ? JSON.stringify(Number(value.text)) : value.text;
  if (Array.isArray(value)) return `[${value.map((each) => write(each, metadata, style, isOwn)).join(separator)}]`;
  if (typeof value !== 'object' || value === null) return writeScalar(value, isAscii);
  const entries = Object.entries(value).map(([key, each]) => {
    const isMetadata = isOwn && key === 'metadata';
    const text = isMetadata ? write(each, metadata, metadata, false) : write(each, metadata, style, isOwn);
    return writeScalar(key, isAscii) + colon + text;
  });
  return `{${entries.join(separator)}}`;
}

function writeScalar(value: unknown, isAscii: boolean): string {
  const text = JSON.stringify(value);
  if (!isAscii) return text;
  return text.replace(/[^\0-\x7f]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * The keys of an object in the service's order, which is that of jsonb for what the database keeps so; `*` stands for
 * each key, and for each entry of a list.
 */
type Shape = { [key: string]: Shape };
const keys = (names: string, inner: Shape = {}): Shape =>
  Object.fromEntries(names.split(' ').map((name) => [name, inner[name] ?? {}]));

const TIMED = 'channel start end text confidence speaker words';
const JOB = keys(
  'id status waiting_for waiting_since plan model language translated_to audio metadata options text segments speakers warnings error cost progress ' +
    'created_at started_at completed_at expires_at segments_omitted text_omitted deleted',
  {
    audio: keys('filename format duration_seconds size_bytes source channels tracks', {
      tracks: { '*': keys('codec index title default channels language') },
    }),
    options: keys(
      'language timestamps prompt diarize keywords speakers audio_track max_speakers min_speakers multichannel replacements translate_to delete_after_seconds',
      { replacements: { '*': keys('to from') } },
    ),
    segments: { '*': keys(TIMED, { words: { '*': keys(TIMED) } }) },
    speakers: { '*': keys('id seconds') },
    warnings: { '*': keys('end code start message') },
    error: keys('type message reason http_status'),
  },
);
const WEBHOOK = keys(
  'id url events description headers max_per_second include active disabled_reason disabled_at consecutive_failures failing_since previous_secret_ends_at created_at updated_at',
);
const EVENT = keys('id type created_at metadata data', { data: { job: JOB, webhook: WEBHOOK } });

function inOrder(value: unknown, shape: Shape): unknown {
  if (Array.isArray(value)) return value.map((each) => inOrder(each, shape['*'] ?? {}));
  if (typeof value !== 'object' || value === null || value instanceof Digits) return value;
  const order = Object.keys(shape);
  const place = (key: string) => (order.includes(key) ? order.indexOf(key) : order.length);
  const entries = Object.entries(value).sort(([left], [right]) => place(left) - place(right));
  return Object.fromEntries(entries.map(([key, each]) => [key, inOrder(each, shape[key] ?? {})]));
}
