import { hmacSha256, timingSafeEqual } from '#node-crypto';
import type { AnyEvent } from '../wire.ts';
import { toBytes, toHex, toLatin1 } from './crypto/bytes.ts';
import { type Body, type Claim, decodeSecret, readClaim, readSignedEvent, type Verification } from './verification.ts';

/**
 * The value of X-Service-Signature: HMAC-SHA256 over timestamp + "." + body, in lower-case hex.
 * @param secret     the whole secret with `whsec_`, whose UTF-8 bytes are the key
 * @param timestamp  the value of X-Service-Timestamp, ISO 8601
 * @param body       the bytes of the body as sent
 */
export function signBody(signing: { secret: string; timestamp: string; body: Body }): string {
  return toHex(hmacSha256(toBytes(signing.secret), `${signing.timestamp}.`, toBytes(signing.body)));
}

/**
 * One entry of webhook-signature, by the Standard Webhooks specification: `v1,<base64>`. Its key is the part of the
 * secret after `whsec_`, decoded from base64.
 * @throws WebhookVerificationError  bad_secret, if the secret is not `whsec_` and base64 of 24 bytes or more
 */
export function standardSignature(signing: {
  secret: string;
  id: string;
  timestampSeconds: number;
  body: Body;
}): string {
  const prefix = `${signing.id}.${signing.timestampSeconds}.`;
  return `v1,${btoa(toLatin1(hmacSha256(decodeSecret(signing.secret), prefix, toBytes(signing.body))))}`;
}

/**
 * The event of a delivery whose signature and timestamp are verified. Needs node:crypto; `verifyDeliveryAsync` does
 * not. During a rotation a delivery has two signatures, and either secret verifies it.
 * @throws WebhookVerificationError
 */
export function verifyDelivery(delivery: Verification): AnyEvent {
  return readSignedEvent(delivery.body, isSignedByAny(readClaim(delivery), delivery.body));
}

/** Compares every pair, so that the time does not reveal which pair matched. */
function isSignedByAny({ secrets, timestamp, signatures }: Claim, body: Body): boolean {
  let isSigned = false;
  for (const secret of secrets) {
    const expected = toBytes(signBody({ secret, timestamp, body }));
    for (const given of signatures.map(toBytes)) {
      if (given.length === expected.length && timingSafeEqual(given, expected)) isSigned = true;
    }
  }
  return isSigned;
}
