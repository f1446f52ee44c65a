/** What a tokenizer.json says of its tokens. */
export type Tokenizer = {
  added_tokens: { id: number; content: string }[];
  model: { vocab: Record<string, number> };
};

/**
 * Tokenizers write each byte as a character: printable bytes stand for themselves, the others for the characters from
 * U+0100 on, in their order.
 */
export const CHARACTER_OF_BYTE = charactersOfBytes();
export const BYTE_OF_CHARACTER = new Map(CHARACTER_OF_BYTE.map((character, byte) => [character, byte]));

/**
 * The tokens.txt of sherpa-onnx, a line of `base64 id` for each token of text, which come before the first special
 * token.
 */
export function whisperTokens({ model }: Tokenizer, firstSpecial: number): string {
  const words = Object.entries(model.vocab).filter(([, id]) => id < firstSpecial);
  const lines = words
    .toSorted(([, one], [, other]) => one - other)
    .map(([word, id]) => {
      const text = Buffer.from(Array.from(word, (character) => BYTE_OF_CHARACTER.get(character)!)).toString('base64');
      // Whisper's own file writes the empty token so.
      return `${text || '='} ${id}\n`;
    });
  return lines.join('');
}

function charactersOfBytes(): string[] {
  const isPrintable = (byte: number) => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
  let others = 0;
  return Array.from({ length: 256 }, (_, byte) => String.fromCharCode(isPrintable(byte) ? byte : 256 + others++));
}
