// Neither URLs nor JSON contain it unescaped.
const SEPARATOR = '\x1e';

/**
 * Texts as one value, for `textsOf`: an array literal has to escape each quote of each text, and PostgreSQL reads it
 * character by character.
 * @param texts  without control characters; null and empty ones become null
 */
export function joinedTexts(texts: (string | null)[]): string {
  return texts.map((text) => text ?? '').join(SEPARATOR);
}

/** SQL of the array of the texts that were joined. @param parameter  such as $1 */
export function textsOf(parameter: string): string {
  return `string_to_array(${parameter}, E'\\x1e', '')`;
}
