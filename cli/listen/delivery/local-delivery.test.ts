import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { verifyDelivery } from '#sdk/webhooks/signature.ts';
import {
  type Attempt,
  signedHeaders as headersOfService,
  serviceHeaderNames,
} from '../../../src/webhooks/deliveries/send.ts';
import { openSigners } from '../../../src/webhooks/secrets/signers.ts';
import { secretBox } from '../../../test/fixtures/webhooks/delivery.ts';
import { localHeaders, makeSecret } from './local-delivery.ts';

const event = { id: 'evt_1', type: 'webhook.test', body: '{"id":"evt_1","type":"webhook.test","data":{"é":"\\n"}}' };
const secret = makeSecret();
const nowMs = Date.now();
const clock = { now: () => nowMs, sleep: async () => undefined };

test('a local delivery has the headers of a delivery of the service, with the same signatures', () => {
  const webhookId = 'wh_1';
  const attempt = {
    delivery: {
      webhookId,
      eventId: event.id,
      eventType: event.type,
      attemptId: 'dlv_1',
      attempt: 2,
      traceparent: null,
    },
    webhook: { id: webhookId, secret: secretBox.seal(webhookId, secret), previousSecret: null },
    body: Buffer.from(event.body),
  } as Attempt;
  const signing = { signers: openSigners(secretBox), clock, headerNames: serviceHeaderNames('X-Acme-') };
  const ofService = headersOfService(attempt, signing);

  const local = localHeaders(event, { secret, headerPrefix: 'X-Acme-' }, { attempt: 2, nowMs });

  const { 'User-Agent': agent, 'X-Acme-Delivery-Id': id, ...rest } = local;
  const { 'User-Agent': _agent, 'X-Acme-Delivery-Id': _id, ...expected } = ofService;
  assert.deepEqual(rest, expected);
  assert.match(agent!, /^Verbatim-listen\/\d/);
  assert.match(id!, /^dlv_local_[0-9a-f]{20}$/);
});

test('it is verified by the sdk and by the library of Standard Webhooks', () => {
  const headers = localHeaders(event, { secret, headerPrefix: 'X-Service-' }, { attempt: 1, nowMs });

  assert.equal(verifyDelivery({ secret, headers, body: event.body }).id, 'evt_1');
  assert.deepEqual(new Webhook(secret).verify(event.body, headers), JSON.parse(event.body));
});
