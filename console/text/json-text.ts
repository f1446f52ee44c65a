// These functions work on JSON text, because JSON.parse rounds long numbers and drops repeated keys. They only find
// where tokens begin and end. Their input is valid JSON, as the service sends it.

/**
 * The unchanged text of a member of a JSON object; null when there is no such member.
 * @param name  a key without escapes
 */
export function memberText(json: string, name: string): string | null {
  let depth = 0;
  let start = -1;
  let isKey = false;
  for (const { text, at } of tokensOf(json)) {
    if (start >= 0 && depth === 1 && (text === ',' || text === '}')) return json.slice(start, at).trim();
    if (depth === 1 && (text === '{' || text === ',')) isKey = false;
    if (depth === 1 && text === ':' && isKey) start = at + 1;
    if (depth === 1 && start < 0) isKey = text === `"${name}"`;
    if (text === '{' || text === '[') depth++;
    if (text === '}' || text === ']') depth--;
  }
  return null;
}

/** The JSON with a line for each member, digits and escapes unchanged. Text that is not JSON is returned unchanged. */
export function prettyJson(json: string): string {
  try {
    JSON.parse(json);
  } catch {
    return json;
  }
  let depth = 0;
  let pretty = '';
  let last = '';
  for (const { text } of tokensOf(json)) {
    const isEnd = text === '}' || text === ']';
    if (isEnd) depth--;
    const isNewLine = isEnd ? !'{['.includes(last) : last !== '' && '{[,'.includes(last);
    if (isNewLine) pretty += `\n${'  '.repeat(depth)}`;
    pretty += text === ':' ? ': ' : text;
    if (text === '{' || text === '[') depth++;
    last = text;
  }
  return pretty;
}

/** Strings, punctuation and literals with their positions, without white space. */
function* tokensOf(json: string): Generator<{ text: string; at: number }> {
  for (const match of json.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g)) {
    yield { text: match[0], at: match.index };
  }
}
