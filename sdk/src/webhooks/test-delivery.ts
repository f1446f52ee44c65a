import type { AnyEvent } from '../wire.ts';
import { signBody, standardSignature } from './signature.ts';

/** A delivery as the service would send it. */
export type TestDelivery = { headers: Record<string, string>; body: string };

/**
 * Headers and body of a delivery of the event, for tests of your receiver.
 * @param event  `client.events.types()` has examples
 * @throws WebhookVerificationError  bad_secret
 */
export function signTestDelivery(delivery: {
  secret: string;
  event: AnyEvent | { id: string; type: string };
  /** Milliseconds since the epoch. Default: now */
  now?: number;
  /** Default: X-Service- */
  headerPrefix?: string;
}): TestDelivery {
  const { secret, event, now = Date.now(), headerPrefix = 'X-Service-' } = delivery;
  const { id, type } = event;
  const body = JSON.stringify(event);
  const attempt = { deliveryId: 'dlv_test', attempt: 1, nowMs: now };
  return { body, headers: signedHeaders({ id, type, body }, { secret, headerPrefix }, attempt) };
}

/**
 * The headers of a delivery, signed in both ways.
 * @param body     the text that is sent
 * @param attempt  from 1
 * @param nowMs    the time of signing, in milliseconds since the epoch
 * @throws WebhookVerificationError  bad_secret
 */
export function signedHeaders(
  { id, type, body }: { id: string; type: string; body: string },
  { secret, headerPrefix: prefix }: { secret: string; headerPrefix: string },
  { deliveryId, attempt, nowMs }: { deliveryId: string; attempt: number; nowMs: number },
): Record<string, string> {
  const timestamp = new Date(nowMs).toISOString();
  const timestampSeconds = Math.floor(nowMs / 1000);
  return {
    'Content-Type': 'application/json',
    [`${prefix}Signature`]: signBody({ secret, timestamp, body }),
    [`${prefix}Timestamp`]: timestamp,
    [`${prefix}Event-Type`]: type,
    [`${prefix}Event-Id`]: id,
    [`${prefix}Delivery-Id`]: deliveryId,
    [`${prefix}Attempt`]: String(attempt),
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': standardSignature({ secret, id, timestampSeconds, body }),
  };
}
