/** Positions of the first and the last byte. */
export type ByteRange = { first: number; last: number };

/**
 * The bytes that a Range header asks for: all, a part, or none that exist. A header that is malformed, of another unit,
 * or for several parts is ignored: all bytes are sent. Source: RFC 9110, section 14.
 * @param sizeBytes  of the whole file, 1 or more
 */
export function readByteRange(header: string | null, sizeBytes: number): ByteRange | 'all' | 'none' {
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.replaceAll(' ', '') ?? '') ?? [];
  if (from === '' && to === '') return 'all';
  const end = sizeBytes - 1;
  if (from === '') return Number(to) === 0 ? 'none' : { first: Math.max(0, sizeBytes - Number(to)), last: end };
  if (to !== '' && Number(to) < Number(from)) return 'all';
  if (Number(from) > end) return 'none';
  return { first: Number(from), last: to === '' ? end : Math.min(Number(to), end) };
}
