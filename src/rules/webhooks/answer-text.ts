// What browsers take for a text that names no charset and is not UTF-8.
const COMMON_CHARSET = 'windows-1252';

/**
 * The text of a receiver's answer, which may be cut: in the charset that its Content-Type names, else in UTF-8, else in
 * Windows-1252.
 * @param headersJson  of the answer, as the delivery log keeps them
 */
export function answerText(bytes: Uint8Array, headersJson: string): string {
  const named = /"content-type":"[^"]*charset=\s*(?:\\")?([\w.:-]+)/i.exec(headersJson)?.[1];
  const charset = named ?? (isUtf8(bytes) ? 'utf-8' : COMMON_CHARSET);
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    // A charset that is not known.
    return new TextDecoder('utf-8').decode(bytes);
  }
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    // A character at the end may be cut.
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}
