import { randomBytes } from 'node:crypto';
import { signBody, standardSignature } from '#sdk/webhooks/signature.ts';
import manifest from '../../../package.json' with { type: 'json' };

/** An event to forward. */
export type ForwardedEvent = { id: string; type: string; body: string };

/** How local deliveries are signed: with the secret of this program, never with one of the service. */
export type LocalSigning = { secret: string; headerPrefix: string };

/** A new secret: `whsec_` and base64 of 32 bytes, like those of the service. */
export function makeSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/**
 * The headers of one attempt: those of a delivery of the service, with a signature of now.
 * @param attempt  from 1
 */
export function signedHeaders(
  { id, type, body }: ForwardedEvent,
  { secret, headerPrefix }: LocalSigning,
  { attempt, nowMs }: { attempt: number; nowMs: number },
): Record<string, string> {
  const timestamp = new Date(nowMs).toISOString();
  const timestampSeconds = Math.floor(nowMs / 1000);
  return {
    'Content-Type': 'application/json',
    'User-Agent': `Verbatim-listen/${manifest.version}`,
    Accept: '*/*',
    'Accept-Encoding': 'identity',
    [`${headerPrefix}Event-Id`]: id,
    [`${headerPrefix}Event-Type`]: type,
    [`${headerPrefix}Delivery-Id`]: `dlv_local_${randomBytes(10).toString('hex')}`,
    [`${headerPrefix}Attempt`]: String(attempt),
    [`${headerPrefix}Timestamp`]: timestamp,
    [`${headerPrefix}Signature`]: signBody({ secret, timestamp, body }),
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': standardSignature({ secret, id, timestampSeconds, body }),
  };
}
