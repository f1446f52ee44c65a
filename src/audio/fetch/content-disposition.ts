import { cleanFilename } from '../filename.ts';

const PARAMETER = /;[ \t]*(filename\*?)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^;]*))/gi;

/**
 * The name of a file by Content-Disposition (RFC 6266), without folders, for display; null when the header names none.
 * `filename*` goes before `filename`, which may be UTF-8 as well.
 */
export function dispositionFilename(header: string | undefined): string | null {
  const names = { 'filename*': '', filename: '' };
  for (const [, name, quoted, token] of (header ?? '').matchAll(PARAMETER)) {
    const text = quoted?.replace(/\\(["\\])/g, '$1') ?? token!.trim();
    if (name!.length > 'filename'.length) names['filename*'] ||= decodedExtended(text);
    else names.filename ||= utf8Of(Buffer.from(text, 'latin1')) ?? text;
  }
  const path = names['filename*'] || names.filename;
  return cleanFilename(path.split(/[/\\]/).at(-1));
}

/** A value such as `UTF-8'en'%e2%82%ac.mp3` (RFC 8187); empty when it is not valid. */
function decodedExtended(value: string): string {
  const [, charset, encoded] = /^([\w-]+)'[^']*'([^']*)$/.exec(value) ?? [];
  if (encoded === undefined) return '';
  const bytes = Buffer.from(
    encoded.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );
  if (/^iso-8859-1$/i.test(charset!)) return bytes.toString('latin1');
  return /^utf-8$/i.test(charset!) ? (utf8Of(bytes) ?? '') : '';
}

function utf8Of(bytes: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
