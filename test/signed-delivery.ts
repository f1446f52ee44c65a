import { signBody } from '../sdk/src/signature.ts';

export const RECEIVER_SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
export const SIGNED_AT = Date.parse('2026-11-21T09:30:00.000Z');

export type SignedDelivery = { headers: Record<string, string>; body: string };

/** A delivery as the sender would make it, signed at `SIGNED_AT`. */
export function signedDelivery({
  id = 'evt_01k9zzzzzz0123456789abcdef',
  type = 'transcription.completed',
  data = { job: { id: 'job_1', status: 'completed', text: 'Grüße, 世界 🙂' } } as object,
  secret = RECEIVER_SECRET,
} = {}): SignedDelivery {
  const timestamp = new Date(SIGNED_AT).toISOString();
  const body = JSON.stringify({ id, type, created_at: timestamp, metadata: { order: 42 }, data });
  return {
    body,
    headers: {
      'Content-Type': 'application/json',
      'X-Service-Event-Id': id,
      'X-Service-Event-Type': type,
      'X-Service-Delivery-Id': 'dlv_1',
      'X-Service-Attempt': '2',
      'X-Service-Timestamp': timestamp,
      'X-Service-Signature': signBody({ secret, timestamp, body }),
    },
  };
}
