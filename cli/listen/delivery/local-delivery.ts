import { randomBytes } from 'node:crypto';
import { signedHeaders } from '#sdk/webhooks/test-delivery.ts';
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
export function localHeaders(
  event: ForwardedEvent,
  signing: LocalSigning,
  { attempt, nowMs }: { attempt: number; nowMs: number },
): Record<string, string> {
  const deliveryId = `dlv_local_${randomBytes(10).toString('hex')}`;
  return {
    'User-Agent': `Verbatim-listen/${manifest.version}`,
    Accept: '*/*',
    'Accept-Encoding': 'identity',
    ...signedHeaders(event, signing, { deliveryId, attempt, nowMs }),
  };
}
