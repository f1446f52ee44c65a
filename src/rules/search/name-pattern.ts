/**
 * PostgreSQL's regular expression for a text that may stand anywhere, in upper or lower case. It names both cases of
 * each character, because what the database takes for a letter depends on its locale.
 */
export function namePattern(text: string): string {
  return [...text]
    .map((character) => [...new Set(casesOf(character).map(escapeAscii))])
    .map(alternatives)
    .join('');
}

function casesOf(character: string): string[] {
  return [character, character.toLowerCase(), character.toUpperCase()];
}

/** With a backslash before each ASCII character that is neither letter nor digit. */
function escapeAscii(text: string): string {
  return text.replace(/[\x20-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e]/g, '\\$&');
}

function alternatives(forms: string[]): string {
  return forms.length === 1 ? forms[0]! : `(?:${forms.join('|')})`;
}
