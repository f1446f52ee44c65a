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
  const { secret, event, now = Date.now(), headerPrefix: prefix = 'X-Service-' } = delivery;
  const { id, type } = event;
  const body = JSON.stringify(event);
  const timestamp = new Date(now).toISOString();
  const timestampSeconds = Math.floor(now / 1000);
  return {
    body,
    headers: {
      'Content-Type': 'application/json',
      [`${prefix}Signature`]: signBody({ secret, timestamp, body }),
      [`${prefix}Timestamp`]: timestamp,
      [`${prefix}Event-Type`]: type,
      [`${prefix}Event-Id`]: id,
      [`${prefix}Delivery-Id`]: 'dlv_test',
      [`${prefix}Attempt`]: '1',
      'webhook-id': id,
      'webhook-timestamp': String(timestampSeconds),
      'webhook-signature': standardSignature({ secret, id, timestampSeconds, body }),
    },
  };
}
