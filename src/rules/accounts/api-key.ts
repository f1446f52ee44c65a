import { crc32 } from 'node:zlib';

// Digits, upper case, lower case: the order of GitHub's tokens, whose checksums scanners know already.
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const CHECKSUM_CHARS = 6;
const RANDOM_CHARS = 43;
const LARGEST_FAIR_BYTE = 256 - (256 % BASE62.length);
const SHAPE = new RegExp(`^vb_[0-9A-Za-z]{${RANDOM_CHARS + CHECKSUM_CHARS}}$`);
// Keys of earlier releases: 43 characters of base64url, without a checksum.
const OLD_SHAPE = /^vb_[A-Za-z0-9_-]{43}$/;

/**
 * An API key: `vb_`, 43 characters of base62 (256 random bits), and a checksum of 6.
 * @param random  random bytes, at least 43 below 248; 64 are enough but once in 10^13 times
 * @returns null when there were too few
 */
export function composeKey(random: Uint8Array): string | null {
  const fair = [...random].filter((byte) => byte < LARGEST_FAIR_BYTE).slice(0, RANDOM_CHARS);
  if (fair.length < RANDOM_CHARS) return null;
  const rest = `vb_${fair.map((byte) => BASE62[byte % BASE62.length]).join('')}`;
  return rest + checksumOf(rest);
}

/** Whether a text can be a key: anything else costs no look-up. A mistyped key has the wrong checksum. */
export function canBeKey(text: string): boolean {
  if (OLD_SHAPE.test(text)) return true;
  return SHAPE.test(text) && checksumOf(text.slice(0, -CHECKSUM_CHARS)) === text.slice(-CHECKSUM_CHARS);
}

/** CRC-32 (of zlib and PNG) of a text in base62, most significant digit first, 6 characters with leading zeros. */
function checksumOf(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let i = 0; i < CHECKSUM_CHARS; i++) {
    digits = BASE62[rest % BASE62.length] + digits;
    rest = Math.floor(rest / BASE62.length);
  }
  return digits;
}
