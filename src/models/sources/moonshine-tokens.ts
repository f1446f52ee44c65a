const BLANK = Buffer.from('\u2581');

/**
 * The tokens.txt of sherpa-onnx, a line of `base64 id` for each token, from Moonshine's tokenizer.bin: each token is
 * its length, in one byte or two, and its bytes; U+2581 stands for a blank.
 */
export function moonshineTokens(tokenizer: Buffer): string {
  const lines: string[] = [];
  for (let at = 0; at < tokenizer.length; ) {
    let length = tokenizer[at++]!;
    if (length >= 128) length += tokenizer[at++]! * 128 - 128;
    lines.push(`${withBlanks(tokenizer.subarray(at, at + length)).toString('base64')} ${lines.length}`);
    at += length;
  }
  return `${lines.join('\n')}\n`;
}

/** On bytes: a token may be a part of a character. */
function withBlanks(token: Buffer): Buffer {
  const parts: Buffer[] = [];
  let [from, found] = [0, token.indexOf(BLANK)];
  for (; found >= 0; found = token.indexOf(BLANK, from)) {
    parts.push(token.subarray(from, found), Buffer.from(' '));
    from = found + BLANK.length;
  }
  return Buffer.concat([...parts, token.subarray(from)]);
}
