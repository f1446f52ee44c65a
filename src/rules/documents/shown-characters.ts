// Written from left to right, a letter beside the other. The letters of other scripts change with their neighbours or
// run from right to left; a PDF that places them one by one would show other words.
const SIMPLE =
  /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Armenian}\p{Script=Georgian}\p{Script=Common}\p{Script=Inherited}]$/u;

/** The text with composed letters, and without the characters that are never visible, such as a soft hyphen. */
export function visibleText(text: string): string {
  return text.normalize('NFC').replace(/\p{Default_Ignorable_Code_Point}/gu, '');
}

/**
 * The characters of texts that cannot be shown letter by letter with a font, each once, in the order of the texts.
 * @param hasGlyph  whether the font has a code point
 */
export function unshownCharacters(texts: readonly string[], hasGlyph: (codePoint: number) => boolean): string[] {
  const used = new Set(texts.flatMap((text) => [...new Set(text)]));
  return [...used].filter((character) => !SIMPLE.test(character) || !hasGlyph(character.codePointAt(0)!));
}
