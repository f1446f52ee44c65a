/** What files begin with that are often sent in place of audio: the bytes as Latin-1 text, and their position. */
const SIGNATURES: readonly { kind: string; bytes: string; at?: number }[] = [
  { kind: 'a PNG image', bytes: '\x89PNG\r\n' },
  { kind: 'a JPEG image', bytes: '\xff\xd8\xff' },
  { kind: 'a GIF image', bytes: 'GIF8' },
  { kind: 'a WebP image', bytes: 'WEBP', at: 8 },
  { kind: 'an AVIF image', bytes: 'ftypavif', at: 4 },
  { kind: 'a HEIC image', bytes: 'ftypheic', at: 4 },
  { kind: 'a HEIC image', bytes: 'ftypmif1', at: 4 },
  { kind: 'a TIFF image', bytes: 'II*\0' },
  { kind: 'a TIFF image', bytes: 'MM\0*' },
  { kind: 'a PDF document', bytes: '%PDF-' },
  { kind: 'a ZIP archive or an office document', bytes: 'PK\x03\x04' },
  { kind: 'an old office document', bytes: '\xd0\xcf\x11\xe0' },
  { kind: 'a gzip file', bytes: '\x1f\x8b' },
  { kind: 'a 7z archive', bytes: '7z\xbc\xaf' },
  { kind: 'a RAR archive', bytes: 'Rar!' },
  { kind: 'a MIDI file, which has notes and no sound', bytes: 'MThd' },
  { kind: 'a program', bytes: '\x7fELF' },
  { kind: 'a program', bytes: 'MZ\x90' },
];

const TEXTS: readonly { kind: string; pattern: RegExp }[] = [
  { kind: 'an HTML page', pattern: /^\s*<(!doctype html|html|head|body)\b/i },
  { kind: 'an SVG image', pattern: /^\s*(<\?xml[^>]*>\s*)?<svg\b/i },
  { kind: 'an XML file', pattern: /^\s*<\?xml\b/i },
  { kind: 'a playlist', pattern: /^(#EXTM3U|\[playlist\])/i },
  { kind: 'JSON', pattern: /^\s*(\{\s*"|\[\s*[{"\d])/ },
];

const CONTROL_CHARACTERS = /(?![\t\n\r\f])\p{Cc}/u;

/**
 * What a file is that is not audio, such as "a PNG image", by its first bytes; null when they are not recognised.
 * @param start  the first 100 to 4,096 bytes, or all of a smaller file
 */
export function fileKind(start: Uint8Array): string | null {
  const begin = Buffer.from(start.subarray(0, 16)).toString('latin1');
  const known = SIGNATURES.find(({ bytes, at = 0 }) => begin.startsWith(bytes, at));
  if (known) return known.kind;
  const text = textOf(start);
  return text === null ? null : (TEXTS.find(({ pattern }) => pattern.test(text))?.kind ?? 'a text file');
}

/** Null for what is no text in UTF-8. The last character may be cut. */
function textOf(start: Uint8Array): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(start, { stream: true });
    return text.trim() === '' || CONTROL_CHARACTERS.test(text) ? null : text;
  } catch {
    return null;
  }
}
