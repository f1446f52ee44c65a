import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { secretBox } from '../../../test/fixtures/webhooks/delivery.ts';
import { openWebhookFixture } from '../../../test/fixtures/webhooks/webhook.ts';
import { openHeaderReader } from '../secrets/own-headers.ts';

const GOOD = { url: 'https://hooks.example.com/verbatim', events: ['transcription.completed'] };
const HEADERS = { Authorization: 'Bearer 8f14e45f', 'X-Tenant': 'acme' };

let environment: Awaited<ReturnType<typeof openWebhookFixture>>;
before(async () => {
  environment = await openWebhookFixture();
});
after(() => environment[Symbol.asyncDispose]());

/** A new account with a webhook. */
async function openHook(more: object = {}) {
  const { call } = await environment.caller();
  const created = await call('POST', '/v1/webhooks', { ...GOOD, ...more });
  const path = `/v1/webhooks/${created.json.id}`;
  const stored = async () => {
    const [row] = await environment.fixture.db.rows<{ headers: Buffer | null; names: string[]; limit: number | null }>({
      text: 'select headers, header_names as names, max_per_second as limit from webhooks where id = $1',
      values: [created.json.id],
    });
    const { headers, names, limit } = row!;
    return { bytes: headers, headers: openHeaderReader(secretBox).headersOf(created.json.id, headers), names, limit };
  };
  return { call, created, path, stored, change: (body: object) => call('PATCH', path, body) };
}

test('own headers are stored encrypted, and shown as names only', async () => {
  const { call, created, path, stored } = await openHook({ headers: HEADERS, max_per_second: 7 });

  const texts = [created.text, (await call('GET', path)).text, (await call('GET', '/v1/webhooks')).text];

  assert.deepEqual([created.status, created.json.headers, created.json.max_per_second], [201, Object.keys(HEADERS), 7]);
  const { bytes, headers, limit } = await stored();
  assert.deepEqual([headers, limit], [HEADERS, 7]);
  for (const secret of ['8f14e45f', 'acme']) {
    assert.equal(bytes!.includes(secret), false);
    assert.equal(texts.join().includes(secret), false);
  }
});

test('a webhook without them has no headers and no limit', async () => {
  const { created, stored } = await openHook();

  assert.deepEqual([created.json.headers, created.json.max_per_second], [[], null]);
  assert.equal((await stored()).bytes, null);
});

test('a change replaces all headers, and leaves them alone when it does not name them', async () => {
  const { change, stored } = await openHook({ headers: HEADERS, max_per_second: 7 });

  const other = await change({ description: 'CRM' });
  assert.deepEqual([other.json.headers, other.json.max_per_second], [Object.keys(HEADERS), 7]);
  const replaced = await change({ headers: { 'X-New': 'b' }, max_per_second: 1_000 });
  assert.deepEqual([replaced.json.headers, replaced.json.max_per_second], [['X-New'], 1_000]);
  assert.deepEqual((await stored()).headers, { 'X-New': 'b' });
  for (const headers of [{}, null]) {
    await change({ headers: HEADERS });
    const removed = await change({ headers, max_per_second: null });
    assert.deepEqual([removed.status, removed.json.headers, removed.json.max_per_second], [200, [], null]);
    assert.equal((await stored()).bytes, null);
  }
});

const REFUSED: [object, string][] = [
  [{ headers: { Host: 'a' } }, 'headers'],
  [{ headers: { 'X-Service-Signature': 'a' } }, 'headers'],
  [{ headers: { 'X-A': 'a\r\nX-B: b' } }, 'headers'],
  [{ headers: { 'X-A': 5 } }, 'headers.X-A'],
  [{ headers: ['X-A'] }, 'headers'],
  [{ headers: 'X-A: a' }, 'headers'],
  [{ headers: Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`X-${index}`, 'a'])) }, 'headers'],
  [{ headers: { 'X-A': 'a'.repeat(4_094) } }, 'headers'],
  [{ max_per_second: 0 }, 'max_per_second'],
  [{ max_per_second: 1_001 }, 'max_per_second'],
  [{ max_per_second: 1.5 }, 'max_per_second'],
  [{ max_per_second: '5' }, 'max_per_second'],
];
test('headers and limits that are not allowed are refused by name, and nothing is stored', async () => {
  const { call, change, stored } = await openHook({ headers: HEADERS });

  for (const [body, param] of REFUSED) {
    const answers = [await call('POST', '/v1/webhooks', { ...GOOD, ...body }), await change(body)];
    for (const { status, json } of answers)
      assert.deepEqual(
        [status, json.error.type, json.error.param],
        [400, 'invalid_request', param],
        JSON.stringify(body),
      );
  }
  assert.equal((await call('GET', '/v1/webhooks')).json.data.length, 1);
  assert.deepEqual((await stored()).headers, HEADERS);
});

test('the values go to no other origin than they were set for, unless they are set again or removed', async () => {
  const { change, stored } = await openHook({ headers: HEADERS });
  const elsewhere = { url: 'https://elsewhere.example.com/' };

  const samePlace = await change({ url: 'https://hooks.example.com/other' });
  const refused = await change(elsewhere);
  const withHeaders = await change({ ...elsewhere, headers: { 'X-New': 'b' } });
  const without = await change({ ...GOOD, headers: null });

  assert.deepEqual([samePlace.status, withHeaders.status, without.status], [200, 200, 200]);
  assert.deepEqual([refused.status, refused.json.error.type, refused.json.error.param], [409, 'conflict', 'headers']);
  assert.equal((await change(elsewhere)).status, 200);
  assert.equal((await stored()).bytes, null);
});

test('neither the test event nor the answer that is kept for an Idempotency-Key has a value', async () => {
  const { call } = await environment.caller();
  const key = { 'idempotency-key': 'headers' };
  const create = () => call('POST', '/v1/webhooks', { ...GOOD, headers: HEADERS }, key);

  const [created, replayed] = [await create(), await create()];
  const { json } = await call('POST', `/v1/webhooks/${created.json.id}/test`);
  const [event] = await environment.fixture.db.rows<{ body: string }>({
    text: `select convert_from(body, 'UTF8') as body from events where id = $1`,
    values: [json.event_id],
  });

  assert.deepEqual([replayed.json.id, replayed.headers['idempotent-replayed']], [created.json.id, 'true']);
  assert.deepEqual(JSON.parse(event!.body).data.webhook.headers, Object.keys(HEADERS));
  assert.equal(event!.body.includes('8f14e45f'), false);
});
