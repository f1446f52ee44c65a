/** What a tokenizer.json says of its tokens. */
export type Tokenizer = {
  added_tokens: { id: number; content: string }[];
  model: { vocab: Record<string, number> };
};

/**
 * The tokens.txt of sherpa-onnx, a line of `base64 id` for each token of text, which come before the first special
 * token. The tokenizer writes each byte as a character.
 */
export function whisperTokens({ model }: Tokenizer, firstSpecial: number): string {
  const bytes = byteOfCharacter();
  const words = Object.entries(model.vocab).filter(([, id]) => id < firstSpecial);
  const lines = words
    .toSorted(([, one], [, other]) => one - other)
    .map(([word, id]) => {
      const text = Buffer.from(Array.from(word, (character) => bytes.get(character)!)).toString('base64');
      // Whisper's own file writes the empty token so.
      return `${text || '='} ${id}\n`;
    });
  return lines.join('');
}

/** Printable bytes stand for themselves, the others for the characters from U+0100 on, in their order. */
function byteOfCharacter(): Map<string, number> {
  const isPrintable = (byte: number) => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
  const all = Array.from({ length: 256 }, (_, byte) => byte);
  const others = all.filter((byte) => !isPrintable(byte));
  return new Map(all.map((byte) => [String.fromCharCode(isPrintable(byte) ? byte : 256 + others.indexOf(byte)), byte]));
}
