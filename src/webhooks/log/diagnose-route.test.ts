import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { signBody } from '#sdk/webhooks/signature.ts';
import { processorTime } from '../../../test/fixtures/processor-time.ts';
import { finishedOf } from '../../../test/fixtures/webhooks/delivery.ts';
import { openWebhookFixture } from '../../../test/fixtures/webhooks/webhook.ts';

const HOOK = { url: 'https://hooks.example.com/verbatim', events: ['transcription.completed'] };

let environment: Awaited<ReturnType<typeof openWebhookFixture>>;
before(async () => {
  environment = await openWebhookFixture();
});
after(() => environment[Symbol.asyncDispose]());

/** A new account with a webhook, and a delivery as it was sent and recorded. */
async function openDelivery({ responseHeaders }: { responseHeaders?: Record<string, string> } = {}) {
  const { call, account } = await environment.caller();
  const { json: webhook } = await call('POST', '/v1/webhooks', HOOK);
  await environment.fixture.emit(account);
  const [due] = await environment.fixture.due(account);
  const body = due!.body.toString();
  const timestamp = new Date().toISOString();
  const signed = (secret: string, of = body) => ({
    'X-Service-Signature': signBody({ secret, timestamp, body: of }),
    'X-Service-Timestamp': timestamp,
    'X-Service-Event-Id': due!.delivery.eventId,
    'X-Service-Delivery-Id': due!.delivery.attemptId,
  });
  const headers = signed(webhook.secret);
  await environment.fixture.finish([
    finishedOf(due!, {
      requestHeaders: JSON.stringify(headers),
      ...(responseHeaders && { responseHeaders: JSON.stringify(responseHeaders) }),
    }),
  ]);
  const path = `/v1/webhooks/${webhook.id}`;
  const ask = async (given: object) => {
    const answer = await call('POST', `${path}/diagnose`, { headers, body, received_at: timestamp, ...given });
    assert.equal(answer.text.includes(webhook.secret.slice(6)), false);
    return answer;
  };
  return { call, account, webhook, path, body, headers, timestamp, signed, ask };
}

test('a delivery as it was sent is genuine', async () => {
  const { ask } = await openDelivery();

  const { status, json } = await ask({});

  assert.deepEqual([status, json.verdict, json.causes, json.difference], [200, 'genuine', [], null]);
  assert.deepEqual(
    json.checks.map(({ name, result }: { name: string; result: string }) => [name, result]),
    ['headers', 'time', 'signature', 'body'].map((name) => [name, 'ok']),
  );
});

test('the body is compared with the one that was sent, byte by byte', async () => {
  const { ask, body } = await openDelivery();

  const changed = (await ask({ body: body.replace('job_x', 'job_y') })).json;
  const parsed = (await ask({ body: JSON.stringify(JSON.parse(body), null, 1) })).json;

  assert.equal(changed.verdict, 'body_changed_at');
  assert.deepEqual(changed.difference, {
    at: body.indexOf('job_x') + 4,
    sent: changed.difference.received.replace('job_y', 'job_x'),
    received: changed.difference.received,
    sent_bytes: Buffer.byteLength(body),
    received_bytes: Buffer.byteLength(body),
    kind: 'changed',
  });
  // Its metadata has a number that JSON parsers round.
  assert.equal(parsed.verdict, 'body_parsed');
});

test('the secret before a rotation, and that of another webhook, are recognised', async () => {
  const { call, ask, signed, webhook, path } = await openDelivery();
  const { json: other } = await call('POST', '/v1/webhooks', HOOK);

  const ofOther = await ask({ headers: signed(other.secret) });
  await call('POST', `${path}/rotate-secret`, { overlap_seconds: 60 });
  const rotated = await ask({ headers: signed(webhook.secret) });

  assert.equal(ofOther.json.verdict, 'secret_of_another_webhook');
  assert.equal(ofOther.text.includes(other.secret.slice(6)), false);
  assert.equal(rotated.json.verdict, 'previous_secret');
});

test("another account's secrets and events are not looked at, and its webhook is unknown", async () => {
  const { ask, headers, body } = await openDelivery();
  const stranger = await openDelivery();

  const ofStranger = await ask({ headers: stranger.headers, body: stranger.body });
  const foreign = await stranger.call('POST', `/v1/webhooks/wh_${'0'.repeat(26)}/diagnose`, { headers, body });

  assert.deepEqual([ofStranger.json.verdict, ofStranger.json.difference], ['unexplained', null]);
  assert.equal(foreign.status, 404);
});

test('the Date of the recorded answer tells a wrong clock from an old delivery, and its headers the framework', async () => {
  const { ask, timestamp, body } = await openDelivery({
    responseHeaders: { date: 'Sat, 01 Jan 2000 00:00:00 GMT', 'x-powered-by': 'Express' },
  });
  const parsed = JSON.stringify(JSON.parse(body), null, 1);

  const skewed = (await ask({ received_at: undefined })).json;
  const old = (await ask({ received_at: new Date(Date.parse(timestamp) + 301_000).toISOString(), framework: 'go' }))
    .json;

  assert.deepEqual([skewed.verdict, skewed.framework], ['clock_skew', 'express']);
  assert.match(skewed.checks[1].message, /The clock of your server is \d+ s behind\./);
  assert.deepEqual([old.verdict, old.framework], ['stale_timestamp', 'go']);
  assert.match((await ask({ body: parsed })).json.fix, /Express: use express\.raw/);
});

test('without a time of receipt the age is not checked', async () => {
  const { ask, timestamp } = await openDelivery();
  const later = new Date(Date.parse(timestamp) + 301_000).toISOString();

  assert.equal((await ask({ received_at: later })).json.verdict, 'stale_timestamp');
  assert.equal((await ask({ received_at: undefined })).json.verdict, 'genuine');
});

test('fields that are missing or malformed are refused by name', async () => {
  const { ask } = await openDelivery();
  const refused: [object, string][] = [
    [{ framework: 'perl' }, 'framework'],
    [{ headers: undefined }, 'headers'],
    [{ headers: 'X-A: b' }, 'headers'],
    [{ body: undefined }, 'body'],
    [{ body: { id: 1 } }, 'body'],
    [{ received_at: 'now' }, 'received_at'],
    [{ secret: 'mine' }, 'secret'],
  ];

  for (const [given, param] of refused) {
    const { status, json } = await ask(given);
    assert.deepEqual([status, json.error.param], [400, param]);
  }
});

test('the longest search ends in a moment', async () => {
  const { ask, signed } = await openDelivery();
  const body = JSON.stringify({ text: 'é'.repeat(29_000) });

  const usedMs = processorTime();
  const { json } = await ask({
    headers: { ...signed(`whsec_${'A'.repeat(43)}=`), 'X-Service-Delivery-Id': 'x' },
    body,
  });

  assert.equal(json.verdict, 'wrong_secret');
  // 60 ms on a quiet machine.
  assert.ok(usedMs() < 5_000);
});
