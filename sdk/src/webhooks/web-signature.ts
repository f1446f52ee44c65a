import type { AnyEvent } from '../wire.ts';
import { toHex } from './crypto/bytes.ts';
import { hmacSha256, isHmacSha256 } from './crypto/web-crypto.ts';
import { type Body, type Claim, readClaim, readSignedEvent, type Verification } from './verification.ts';

const HEX = /^[0-9a-f]{64}$/;

/** `signBody` by WebCrypto, which every runtime has. */
export async function signBodyAsync(signing: { secret: string; timestamp: string; body: Body }): Promise<string> {
  return toHex(await hmacSha256(signing.secret, `${signing.timestamp}.`, signing.body));
}

/**
 * `verifyDelivery` by WebCrypto, which every runtime has.
 * @throws WebhookVerificationError
 */
export async function verifyDeliveryAsync(delivery: Verification): Promise<AnyEvent> {
  return readSignedEvent(delivery.body, await isSignedByAny(readClaim(delivery), delivery.body));
}

/** Compares every pair, so that the time does not reveal which pair matched. */
async function isSignedByAny({ secrets, timestamp, signatures }: Claim, body: Body): Promise<boolean> {
  const hmacs = signatures.filter((text) => HEX.test(text)).map(fromHex);
  let isSigned = false;
  for (const secret of secrets) {
    for (const given of hmacs) if (await isHmacSha256(given, secret, `${timestamp}.`, body)) isSigned = true;
  }
  return isSigned;
}

function fromHex(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(hex.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));
}
