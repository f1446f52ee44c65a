import { createHmac, timingSafeEqual } from '#node-crypto';
import type { AnyEvent } from '../wire.ts';
import { toBytes } from './crypto/bytes.ts';
import type { Body, Claim, Verification } from './verification.ts';
import { decodeSecret, readClaim, readSignedEvent } from './verification.ts';

// These need node:crypto, and answer at once; web-signature.ts has the same for every runtime.

/**
 * The value of X-Service-Signature: HMAC-SHA256 over timestamp + "." + body, in lower-case hex.
 * @param secret     the whole secret with `whsec_`, whose UTF-8 bytes are the key
 * @param timestamp  the value of X-Service-Timestamp, ISO 8601
 * @param body       the bytes of the body as sent
 */
export function signBody(signing: { secret: string; timestamp: string; body: Body }): string {
  return createHmac('sha256', signing.secret).update(`${signing.timestamp}.`).update(signing.body).digest('hex');
}

/**
 * One entry of webhook-signature, by the Standard Webhooks specification: `v1,<base64>`. Its key is the part of the secret
 * after `whsec_`, decoded from base64.
 * @throws WebhookVerificationError  bad_secret, if the secret is not `whsec_` and base64 of 24 bytes or more
 */
export function standardSignature(signing: {
  secret: string;
  id: string;
  timestampSeconds: number;
  body: Body;
}): string {
  const hmac = createHmac('sha256', decodeSecret(signing.secret));
  return `v1,${hmac.update(`${signing.id}.${signing.timestampSeconds}.`).update(signing.body).digest('base64')}`;
}

/**
 * The event of a delivery whose signature and timestamp are verified. During a rotation a delivery has two signatures, and
 * either secret verifies it.
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
