/** Stands for functions of node:crypto where they do not exist. */
function refuse(): never {
  throw new TypeError('There is no node:crypto here: use verifyDeliveryAsync, or a receiver.');
}

export { hmacSha256 } from './hmac-sha256.ts';
export { refuse as createHmac, refuse as timingSafeEqual };
