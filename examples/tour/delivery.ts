// One event: signed, sent over TLS, refused by its receiver, and sent again: the same bytes in an attempt of its own.
import { once } from 'node:events';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { verifyDelivery } from '../../sdk/src/webhooks/signature.ts';
import { makeCertificates } from '../../src/demo/certificates.ts';
import { makeId } from '../../src/platform/clock.ts';
import { startDeliverer } from '../../src/webhooks/deliveries/worker.ts';
import { insertWebhook } from '../../src/webhooks/endpoints/store.ts';
import { composeEvent } from '../../src/webhooks/events/compose-event.ts';
import { insertTest } from '../../src/webhooks/events/store.ts';
import { listAttempts } from '../../src/webhooks/log/log-store.ts';
import { makeWebhookSecret, openSecretBox } from '../../src/webhooks/secrets/secrets.ts';
import { openParts } from './parts.ts';

// A receiver that is not ready for the first request.
const { ca, ...certificate } = makeCertificates({ names: ['localhost'], addresses: ['127.0.0.1'] });
const secret = makeWebhookSecret();
const bodies: Buffer[] = [];
const accepted = Promise.withResolvers<void>();
const receiver = https.createServer(certificate, async (request, response) => {
  const body = await buffer(request);
  const { type } = verifyDelivery({ body, headers: request.headers, secret });
  console.log(`received: ${type} with a signature that holds, attempt ${request.headers['x-service-attempt']}`);
  const isFirst = bodies.push(body) === 1;
  response.writeHead(isFirst ? 503 : 204).end();
  if (!isFirst) accepted.resolve();
});
await once(receiver.listen(0, '127.0.0.1'), 'listening');
const { port } = receiver.address() as AddressInfo;

// Deliveries go to public addresses only; retries come at once here.
const settings = { WEBHOOK_ALLOWED_TARGETS: `127.0.0.1/32:${port}`, WEBHOOK_RETRY_DELAYS: '0,0,0,0' };
await using parts = await openParts(settings);
const { account, runtime } = parts;
const secretBox = openSecretBox(Buffer.alloc(32, 7));
const id = makeId('wh');
const url = `https://127.0.0.1:${port}/`;
const rest = {
  description: null,
  maxPerSecond: null,
  include: [],
  headers: { names: [], sealed: null },
  now: new Date(),
};
const webhook = { id, url, events: ['transcription.completed' as const], secret: secretBox.seal(id, secret), ...rest };
await insertWebhook(runtime.db, { shard: account.shard, accountId: account.id }, webhook);

// The body is written once, in the transaction of what it reports; each attempt signs the same bytes.
const content = { type: 'webhook.test', jobId: null, data: { webhook: { id } }, metadata: null } as const;
const event = composeEvent({ account, ...content } as unknown as Parameters<typeof composeEvent>[0]);
await insertTest(runtime.db, { event, webhookId: id }, runtime.config);

// A deliverer owns shards: it alone sends their deliveries. Once it has stopped, all that it did is in the log.
const deliverer = await startDeliverer({ ...runtime, secretBox, ca });
await accepted.promise;
await deliverer.stop();
console.log(`the bytes were the same: ${bodies[0]!.equals(bodies[1]!)}`);
const all = { status: null, eventType: null, eventId: null, reason: null, statusClass: null, attempt: null };
const page = { after: null, before: null, limit: 10, beforeId: null };
const log = await listAttempts(runtime.db, { ...account, accountId: account.id, webhookId: id }, { ...all, ...page });
for (const { attempt, status, responseStatus } of log.toReversed())
  console.log(`attempt ${attempt}: ${status}, ${responseStatus}`);
receiver.close();
