/** The bytes of a text in UTF-8; bytes as they are. */
export function toBytes(value: string | Uint8Array): Uint8Array<ArrayBuffer> {
  return (typeof value === 'string' ? new TextEncoder().encode(value) : value) as Uint8Array<ArrayBuffer>;
}

/** Bytes that are read as UTF-8; a mark at their beginning stays. */
export function toText(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

/** The bytes of base64, or of base64url, with white space in it or not; null for something else. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return fromLatin1(atob(text.replaceAll('-', '+').replaceAll('_', '/')));
  } catch {
    return null;
  }
}

/** One byte for each character: the lower one of its code. */
export function fromLatin1(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

/** One character for each byte. */
export function toLatin1(bytes: Uint8Array): string {
  let text = '';
  // A call takes a limited number of arguments.
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return text;
}

/** Two lower-case digits for each byte. */
export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** All parts in one. */
export function concatenate(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((size, { length }) => size + length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
