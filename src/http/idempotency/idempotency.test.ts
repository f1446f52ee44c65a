import assert from 'node:assert/strict';
import test from 'node:test';
import { callerOf } from '../../../test/fixtures/caller.ts';
import { openTestDatabase, type TestDatabase } from '../../../test/fixtures/database/test-database.ts';
import { runtimeOn } from '../../../test/fixtures/runtime.ts';
import { openWebhookFixture } from '../../../test/fixtures/webhooks/webhook.ts';
import type { Account } from '../../accounts/account.ts';
import { readConfig } from '../../config/settings.ts';
import type { Database } from '../../db/database.ts';
import { openLog } from '../../platform/log.ts';
import { openSecretBox } from '../../webhooks/secrets/secrets.ts';
import { ApiError } from '../api-error.ts';
import type { Route } from '../route.ts';
import { buildServer, closeServer } from '../server/server.ts';
import { openIdempotencyKeys } from './idempotency.ts';
import { deleteExpiredKeys } from './idempotency-store.ts';

const WEBHOOK = { url: 'https://hooks.example.com/a', events: ['transcription.completed'] };
const BOX = openSecretBox(Buffer.alloc(32, 7));
const LOG = openLog('silent');
const ACCOUNT: Account = { id: 'acct_1', shard: 1, name: 'one', plan: 'pro', unlimited: true };

/** A node with one POST route; several nodes may share the database. */
function openNode(db: Database, handle: Route['handle'], secretBox = BOX, maxKeys = 100) {
  const config = readConfig({ MAX_IDEMPOTENCY_KEYS: String(maxKeys) });
  const idempotency = openIdempotencyKeys(runtimeOn(db, { config, secretBox }));
  const route = {
    method: 'POST',
    path: '/v1/work',
    auth: 'key',
    scope: 'any',
    summary: 'work',
    tag: 'Test',
    schema: { answers: {} },
  } as const;
  const app = buildServer({
    routes: [{ ...route, handle }],
    auth: { findCaller: async () => callerOf(ACCOUNT), adminToken: 'x'.repeat(16) },
    limits: { admit: async () => null },
    log: LOG,
    metrics: { requestEnded: () => undefined, rateRefused: () => undefined },
    idempotency,
  });
  return {
    async post(headers: Record<string, string | string[]> = { 'idempotency-key': 'k' }) {
      const all = { 'x-api-key': `vb_${'k'.repeat(43)}`, ...headers };
      const {
        statusCode: status,
        body,
        headers: answered,
      } = await app.inject({ method: 'POST', url: '/v1/work', headers: all });
      return { status, body, headers: answered };
    },
    async [Symbol.asyncDispose]() {
      await closeServer(app, 0);
      idempotency.close();
    },
  };
}

const endLeases = (db: TestDatabase) => db.run({ text: 'update idempotency_keys set lease_ends_at = now()' });
const rowsOf = (db: Database) =>
  db.rows<{ state: string; body: Buffer }>({ text: 'select state, body from idempotency_keys' });

test('a repeated request gets the same bytes as the first, and its work is done once', async () => {
  await using fixture = await openWebhookFixture();
  const { call } = await fixture.caller('pro');

  const first = await call('POST', '/v1/webhooks', WEBHOOK, { 'idempotency-key': 'k' });
  const second = await call('POST', '/v1/webhooks', WEBHOOK, { 'idempotency-key': 'k' });
  const list = await call('GET', '/v1/webhooks');

  assert.deepEqual([first.status, second.status], [201, 201]);
  assert.equal(second.text, first.text);
  assert.deepEqual([first.headers['idempotent-replayed'], second.headers['idempotent-replayed']], [undefined, 'true']);
  assert.equal(list.json.data.length, 1);
});

test('a saved answer is encrypted: the secret in it is not readable in the database', async () => {
  await using fixture = await openWebhookFixture();
  const { call } = await fixture.caller();

  const { json } = await call('POST', '/v1/webhooks', WEBHOOK, { 'idempotency-key': 'k' });
  const [row] = await rowsOf(fixture.fixture.db);

  assert.ok(row!.body.length > 100);
  assert.ok(!row!.body.includes(json.secret.slice(6, 20)));
});

test('a key with another body or path is a conflict', async () => {
  await using fixture = await openWebhookFixture();
  const { call } = await fixture.caller();
  const key = { 'idempotency-key': 'k' };
  const { json } = await call('POST', '/v1/webhooks', WEBHOOK, key);

  const otherBody = await call('POST', '/v1/webhooks', { ...WEBHOOK, description: 'x' }, key);
  const otherPath = await call('POST', `/v1/webhooks/${json.id}/test`, undefined, key);

  assert.deepEqual([otherBody.status, otherBody.json.error.type], [409, 'conflict']);
  assert.deepEqual([otherPath.status, otherPath.json.error.type], [409, 'conflict']);
});

test('two accounts may use the same key', async () => {
  await using fixture = await openWebhookFixture();
  const one = await fixture.caller();
  const other = await fixture.caller();
  await one.call('POST', '/v1/webhooks', WEBHOOK, { 'idempotency-key': 'k' });

  const answer = await other.call('POST', '/v1/webhooks', { ...WEBHOOK, description: 'x' }, { 'idempotency-key': 'k' });

  assert.equal(answer.status, 201);
});

for (const body of [{ ...WEBHOOK, url: 'http://a.example' }, { url: 7 }, { ...WEBHOOK, more: 1 }]) {
  test(`a 400 for ${JSON.stringify(body).slice(0, 60)} is not kept: the corrected request goes through with the same key`, async () => {
    await using fixture = await openWebhookFixture();
    const { call } = await fixture.caller();

    const first = await call('POST', '/v1/webhooks', body, { 'idempotency-key': 'k' });
    const again = await call('POST', '/v1/webhooks', body, { 'idempotency-key': 'k' });
    const corrected = await call('POST', '/v1/webhooks', WEBHOOK, { 'idempotency-key': 'k' });
    const repeated = await call('POST', '/v1/webhooks', WEBHOOK, { 'idempotency-key': 'k' });

    assert.deepEqual([first.status, again.status, corrected.status, repeated.status], [400, 400, 201, 201]);
    assert.deepEqual(
      [again, corrected, repeated].map(({ headers }) => headers['idempotent-replayed']),
      [undefined, undefined, 'true'],
    );
    assert.equal(repeated.text, corrected.text);
  });
}

for (const type of ['conflict', 'unprocessable_audio'] as const) {
  test(`an error of type ${type} is saved and replayed`, async () => {
    await using db = await openTestDatabase();
    let calls = 0;
    await using node = openNode(db, async () => {
      throw new ApiError(type, `Refused ${++calls} times.`);
    });

    const first = await node.post();
    const again = await node.post();

    assert.deepEqual([again.status, again.body, calls], [first.status, first.body, 1]);
    assert.equal(again.headers['idempotent-replayed'], 'true');
  });
}

const REFUSALS = [
  ...(['invalid_request', 'unauthenticated', 'insufficient_balance', 'plan_limit', 'not_found'] as const),
  ...(['too_large', 'unsupported_media_type', 'rate_limited', 'internal', 'unavailable'] as const),
];
for (const type of REFUSALS) {
  test(`after an error of type ${type} the same key takes another request, on another node too`, async () => {
    await using db = await openTestDatabase();
    await using refusing = openNode(db, async () => {
      throw new ApiError(type, 'Refused.');
    });
    await using node = openNode(db, async () => ({ status: 201, body: { done: true } }));

    const refused = await refusing.post();
    const stored = await rowsOf(db);
    const accepted = await node.post();

    assert.ok(refused.status >= 400);
    assert.deepEqual([stored, accepted.status, accepted.headers['idempotent-replayed']], [[], 201, undefined]);
  });
}

test('a process that dies while it refuses leaves its key to another request, when the lease is over', async () => {
  await using db = await openTestDatabase();
  const started = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  await using dying = openNode(db, async () => {
    started.resolve();
    await end.promise;
    throw new ApiError('insufficient_balance', 'Refused.');
  });
  await using node = openNode(db, async () => ({ status: 201, body: { done: true } }));
  const lost = dying.post();
  await started.promise;

  await endLeases(db);
  const corrected = await node.post();
  end.resolve();
  await lost;
  const repeated = await node.post();

  assert.deepEqual([corrected.status, corrected.headers['idempotent-replayed']], [201, undefined]);
  assert.deepEqual([repeated.status, repeated.headers['idempotent-replayed']], [201, 'true']);
});

test('refused requests with long URLs store little', async () => {
  await using fixture = await openWebhookFixture();
  const { call } = await fixture.caller();
  const query = 'x'.repeat(12_000);

  const answers = [];
  for (const [i, body] of [{ url: 7 }, WEBHOOK, undefined].entries()) {
    const path = i === 2 ? `/v1/webhooks/wh_1/test?${query}` : `/v1/webhooks?${query}`;
    answers.push(await call('POST', path, body, { 'idempotency-key': `k${i}` }));
  }

  assert.deepEqual(
    answers.map(({ status }) => status),
    [400, 400, 400],
  );
  const [stored] = await fixture.fixture.db.rows<{ bytes: number }>({
    text: 'select max(pg_column_size(idempotency_keys.*))::int as bytes from idempotency_keys',
  });
  assert.ok(stored!.bytes < 1_024, `${stored!.bytes} bytes`);
});

test('only a hash of the URL is stored', async () => {
  await using db = await openTestDatabase();
  await using node = openNode(db, async () => ({ status: 200, body: {} }));
  await node.post();

  const [row] = await db.rows<{ route: string }>({ text: 'select route from idempotency_keys' });

  assert.match(row!.route, /^[0-9a-f]{32}$/);
});

test('at the limit of stored keys a new key is answered 429, and a stored one is replayed', async () => {
  await using db = await openTestDatabase();
  let runs = 0;
  await using node = openNode(db, async () => ({ status: 200, body: { runs: ++runs } }), BOX, 2);
  for (const key of ['a', 'b']) await node.post({ 'idempotency-key': key });

  const refused = await node.post({ 'idempotency-key': 'c' });
  const replayed = await node.post({ 'idempotency-key': 'a' });
  const withoutKey = await node.post({});

  assert.deepEqual([refused.status, JSON.parse(refused.body).error.type], [429, 'rate_limited']);
  assert.match(JSON.parse(refused.body).error.message, /at most 2 Idempotency-Keys in 24 hours/);
  assert.equal(refused.headers['retry-after'], String(JSON.parse(refused.body).retry_after));
  assert.deepEqual([replayed.status, replayed.body, withoutKey.status], [200, '{"runs":1}', 200]);
});

test('twenty concurrent requests with one key create one webhook', async () => {
  await using fixture = await openWebhookFixture();
  const { call } = await fixture.caller('pro');

  const answers = await Promise.all(
    Array.from({ length: 20 }, () => call('POST', '/v1/webhooks', WEBHOOK, { 'idempotency-key': 'k' })),
  );
  const list = await call('GET', '/v1/webhooks');

  assert.equal(list.json.data.length, 1);
  assert.deepEqual(
    [...new Set(answers.map(({ status }) => status))].filter((status) => status !== 201 && status !== 409),
    [],
  );
  assert.equal(new Set(answers.filter(({ status }) => status === 201).map(({ text }) => text)).size, 1);
});

const MALFORMED = [
  { 'idempotency-key': '' },
  { 'idempotency-key': 'x'.repeat(256) },
  { 'idempotency-key': ['a', 'b'] },
  { 'idempotency-key': 'é' },
];
for (const headers of MALFORMED) {
  test(`${JSON.stringify(headers).slice(0, 40)} is refused with 400`, async () => {
    await using db = await openTestDatabase();
    await using node = openNode(db, async () => ({ status: 200, body: {} }));

    const answer = await node.post(headers);

    assert.equal(answer.status, 400);
    assert.equal(JSON.parse(answer.body).error.param, 'Idempotency-Key');
  });
}

for (const type of ['internal', 'unavailable', 'rate_limited'] as const) {
  test(`an answer of ${type} is not saved: the next request runs again`, async () => {
    await using db = await openTestDatabase();
    let calls = 0;
    await using node = openNode(db, async () => {
      if (calls++ === 0) throw new ApiError(type, 'Not now.');
      return { status: 200, body: { calls } };
    });

    await node.post();
    const second = await node.post();
    const third = await node.post();

    assert.deepEqual([second.status, second.body, third.body], [200, '{"calls":2}', '{"calls":2}']);
  });
}

test('while a request runs, the same key is a conflict on every node', async () => {
  await using db = await openTestDatabase();
  const started = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  await using node = openNode(db, async () => {
    started.resolve();
    await finish.promise;
    return { status: 200, body: {} };
  });
  await using other = openNode(db, async () => ({ status: 200, body: { from: 'other' } }));
  const running = node.post();
  await started.promise;

  const meanwhile = await other.post();
  finish.resolve();
  const [first, later] = [await running, await other.post()];

  assert.deepEqual([meanwhile.status, meanwhile.headers['retry-after']], [409, '1']);
  assert.equal(later.body, first.body);
});

test('a key is free when the lease of a crashed node has expired, and later writes of that node are rejected', async () => {
  await using db = await openTestDatabase();
  const started = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  await using frozen = openNode(db, async ({ idempotency }) => {
    started.resolve();
    await finish.promise;
    return await db.transaction(async (tx) => {
      await tx.run({ text: `insert into job_queues values (1, 'frozen', 0)` });
      return await idempotency.saveAnswer(tx, { status: 200, body: { from: 'frozen' } });
    });
  });
  await using other = openNode(db, async () => ({ status: 200, body: { from: 'other' } }));
  const late = frozen.post();
  await started.promise;
  await endLeases(db);

  const takenOver = await other.post();
  finish.resolve();
  const lost = await late;
  const again = await frozen.post();

  assert.equal(takenOver.body, '{"from":"other"}');
  assert.equal(lost.status, 409);
  assert.deepEqual(await db.rows({ text: 'select 1 from job_queues' }), []);
  assert.equal(again.body, '{"from":"other"}');
});

test('work and answer are committed together: after a crash before the answer the work is not done again', async () => {
  await using db = await openTestDatabase();
  let runs = 0;
  const work: Route['handle'] = async ({ idempotency }) =>
    await db.transaction(async (tx) => await idempotency.saveAnswer(tx, { status: 201, body: { runs: ++runs } }));
  await using crashed = openNode(db, async (call) => {
    await work(call);
    await endLeases(db);
    throw new Error('the process ends here');
  });
  await using node = openNode(db, work);
  await crashed.post();

  const answer = await node.post();

  assert.deepEqual([answer.status, answer.body, runs], [201, '{"runs":1}', 1]);
});

test('saved answers are deleted in batches after 24 hours', async () => {
  await using db = await openTestDatabase();
  let runs = 0;
  await using node = openNode(db, async () => ({ status: 200, body: { runs: ++runs } }));
  for (const key of ['a', 'b', 'c']) await node.post({ 'idempotency-key': key });
  const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000);

  const early = await deleteExpiredKeys(db, { shard: ACCOUNT.shard, limit: 2, now: inHours(23.9) });
  const batches = [
    await deleteExpiredKeys(db, { shard: ACCOUNT.shard, limit: 2, now: inHours(24.1) }),
    await deleteExpiredKeys(db, { shard: ACCOUNT.shard, limit: 2, now: inHours(24.1) }),
  ];
  const again = await node.post({ 'idempotency-key': 'a' });

  assert.deepEqual([early, ...batches], [0, 2, 1]);
  assert.equal(again.body, '{"runs":4}');
});

test('an expired key can be used again before it is deleted', async () => {
  await using db = await openTestDatabase();
  let runs = 0;
  await using node = openNode(db, async () => ({ status: 200, body: { runs: ++runs } }));
  await node.post();
  await db.run({ text: 'update idempotency_keys set expires_at = now()' });

  const again = await node.post();

  assert.equal(again.body, '{"runs":2}');
});

test('an answer that was encrypted with another SECRETS_KEY is a conflict, and its work is not done again', async () => {
  await using db = await openTestDatabase();
  let runs = 0;
  const handle: Route['handle'] = async () => ({ status: 200, body: { runs: ++runs } });
  await using before = openNode(db, handle);
  await using after = openNode(db, handle, openSecretBox(Buffer.alloc(32, 8)));
  await before.post();

  const answer = await after.post();
  await db.run({ text: `update idempotency_keys set job_id = 'job_1'` });
  const ofJob = await after.post();

  assert.deepEqual([answer.status, runs], [409, 1]);
  assert.match(
    JSON.parse(answer.body).error.message,
    /was carried out, but its answer can no longer be opened; look for/,
  );
  assert.deepEqual([ofJob.status, JSON.parse(ofJob.body).job_id], [409, 'job_1']);
});

const POSTS: { path: string; body?: object }[] = [
  { path: '' },
  { path: '/:id/test' },
  { path: '/:id/rotate-secret', body: {} },
  { path: '/:id/recover', body: { since: '2026-01-01T00:00:00Z' } },
];
for (const { path, body } of POSTS) {
  test(`POST /v1/webhooks${path} saves its answer in the transaction of its work`, async () => {
    await using fixture = await openWebhookFixture({ crashesBeforeAnswer: true });
    const { call } = await fixture.caller('pro');
    const { json } = await call('POST', '/v1/webhooks', WEBHOOK);
    const url = `/v1/webhooks${path.replace(':id', json.id)}`;
    const send = () => call('POST', url, path === '' ? WEBHOOK : body, { 'idempotency-key': 'k' });

    const first = await send();
    const second = await send();

    assert.ok(first.status < 300, first.text);
    assert.deepEqual([second.text, second.headers['idempotent-replayed']], [first.text, 'true']);
  });
}
