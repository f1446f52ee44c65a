/**
 * The text of a member of a JSON object, as it is written: numbers keep all their digits, which JSON.parse rounds. Null
 * where the object lacks the member, or its value is null.
 * @param json  valid JSON
 */
export function memberText(json: string, name: string): string | null {
  const key = JSON.stringify(name);
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    const char = json[at]!;
    if (char === '{' || char === '[') depth++;
    else if (char === '}' || char === ']') depth--;
    else if (char === '"') {
      const end = endOfString(json, at);
      const colon = depth === 1 && json.slice(at, end) === key ? /\s*:\s*/y : null;
      if (colon) colon.lastIndex = end;
      // A string that is followed by a colon is a name.
      if (colon?.test(json)) {
        const text = json.slice(colon.lastIndex, endOfValue(json, colon.lastIndex)).trim();
        return text === 'null' ? null : text;
      }
      at = end - 1;
    }
  }
  return null;
}

/** Where the value that begins at `start` ends. */
function endOfValue(json: string, start: number): number {
  let depth = 0;
  for (let at = start; at < json.length; at++) {
    const char = json[at]!;
    if (char === '"') at = endOfString(json, at) - 1;
    else if (char === '{' || char === '[') depth++;
    else if (char === ',' && depth === 0) return at;
    else if ((char === '}' || char === ']') && --depth < 0) return at;
  }
  return json.length;
}

function endOfString(json: string, start: number): number {
  let at = start + 1;
  while (json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
  return at + 1;
}
