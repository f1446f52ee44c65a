import { createHmac, timingSafeEqual } from 'node:crypto';

export { timingSafeEqual };

/** HMAC-SHA256 of `prefix` and then `body`, at once. */
export function hmacSha256(key: Uint8Array, prefix: string, body: Uint8Array): Uint8Array {
  return createHmac('sha256', key).update(prefix).update(body).digest();
}
