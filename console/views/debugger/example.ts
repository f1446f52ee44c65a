import { signTestDelivery } from '#sdk/webhooks/test-delivery.ts';
import { writeRequest } from './pasted-request.ts';

/** A made-up secret, which verifies nothing else. */
export const EXAMPLE_SECRET = 'whsec_ZXhhbXBsZS1zZWNyZXQtb2YtdGhlLWRlYnVnZ2Vy';

const EVENT = {
  id: 'evt_01m0example',
  type: 'transcription.completed',
  data: { job_id: 'job_01m0example', status: 'completed', text: 'Good morning.' },
};

/** A delivery whose body the server has parsed and written anew: the most common mistake. */
export function exampleRequest(headerPrefix: string): string {
  const { headers, body } = signTestDelivery({ secret: EXAMPLE_SECRET, event: EVENT, headerPrefix });
  return writeRequest({ headers, body: JSON.stringify(JSON.parse(body), null, 2) });
}
