export { hmacSha256 } from './hmac-sha256.ts';

/** Stands for the function of node:crypto where it does not exist. */
export function timingSafeEqual(_left: Uint8Array, _right: Uint8Array): never {
  throw new TypeError('There is no node:crypto here: use verifyDeliveryAsync, or a receiver.');
}
