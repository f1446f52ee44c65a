import assert from 'node:assert/strict';
import test from 'node:test';
import { openAccountFixture, openAccountNode, RATES } from '../../../test/fixtures/account.ts';
import { openTestDatabase } from '../../../test/fixtures/database/test-database.ts';
import { runtimeOn } from '../../../test/fixtures/runtime.ts';
import { secretBox } from '../../../test/fixtures/webhooks/delivery.ts';
import { openDatabase } from '../../db/database.ts';
import type { Route } from '../../http/route.ts';
import { webhookRoutes } from '../../webhooks/endpoints/routes.ts';
import { openLimits } from '../rate-limits/limits.ts';

test('an account is created, read, listed and changed', async () => {
  await using fixture = await openAccountFixture();

  const made = await fixture.ask('POST', '/admin/v1/accounts', { name: 'Ada', plan: 'lite', credits: 12.5 });
  const read = await fixture.ask('GET', `/admin/v1/accounts/${made.body.id}`);
  const changed = await fixture.ask('PATCH', `/admin/v1/accounts/${made.body.id}`, { plan: 'pro' });
  const list = await fixture.ask('GET', '/admin/v1/accounts');

  assert.equal(made.status, 201);
  const { id, created_at, ...rest } = made.body;
  assert.match(id, /^acct_/);
  assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  const balance = { amount: 12.5, held: 0, units: 'credits', unlimited: false, rates: RATES, plan: 'lite' };
  assert.deepEqual(rest, { name: 'Ada', plan: 'lite', balance, suspended_at: null });
  assert.deepEqual([read.status, read.body], [200, made.body]);
  assert.deepEqual([changed.body.plan, changed.body.name], ['pro', 'Ada']);
  assert.deepEqual(list.body, { data: [changed.body], has_more: false, next_cursor: null });
});

test('a key reads its account: the plan, its limits, and its own scopes', async () => {
  await using fixture = await openAccountFixture();
  const { id, key } = await fixture.account(undefined, { scopes: ['jobs:write', 'jobs:read'] });
  const all = await fixture.account();

  const answer = await fixture.askAs(key, 'GET', '/v1/account');
  await fixture.ask('PATCH', `/admin/v1/accounts/${all.id}`, { plan: 'lite' });
  const lite = await fixture.askAs(all.key, 'GET', '/v1/account');

  const { limits, ...rest } = answer.body;
  assert.deepEqual(rest, {
    id,
    name: 'one',
    plan: 'pro',
    deliveries: {
      timeout_ms: 5000,
      retry_delays_seconds: [0, 30, 300, 1800],
      disable_failures: 10,
      disable_seconds: 1800,
    },
    webhook_header_prefix: 'X-Service-',
    scopes: ['jobs:read', 'jobs:write'],
  });
  assert.deepEqual(
    [limits.webhooks, limits.delivery_log_days, limits.upload_bytes, limits.audio_seconds, limits.job_days],
    [5, 30, 2 ** 30, 14_400, 30],
  );
  assert.deepEqual(limits.rates.default, { requests: 600, seconds: 60 });
  assert.deepEqual([lite.body.plan, lite.body.limits.webhooks, lite.body.limits.delivery_log_days], ['lite', 1, 7]);
  assert.equal(lite.body.scopes.length, 6);
});

test('accounts are found by part of their name or by the beginning of their id', async () => {
  await using fixture = await openAccountFixture();
  const make = async (name: string) => (await fixture.ask('POST', '/admin/v1/accounts', { name, plan: 'lite' })).body;
  const [acme, other] = [await make('Acme 100% Ltd'), await make('Other')];
  const find = async (query: string) => {
    const answer = await fixture.ask('GET', `/admin/v1/accounts?query=${encodeURIComponent(query)}`);
    return answer.body.data.map(({ id }: { id: string }) => id);
  };

  assert.deepEqual(await find('acme'), [acme.id]);
  assert.deepEqual(await find('0% l'), [acme.id]);
  assert.deepEqual(await find(other.id), [other.id]);
  assert.deepEqual(await find('_'), []);
  assert.deepEqual(await find('acct_'), [other.id, acme.id].sort().reverse());
});

for (const credits of [null, undefined]) {
  test(`credits ${credits} make an unlimited account, which takes no credit`, async () => {
    await using fixture = await openAccountFixture();

    const made = await fixture.ask('POST', '/admin/v1/accounts', { name: 'Ada', plan: 'pro', credits });
    const credit = await fixture.ask('POST', `/admin/v1/accounts/${made.body.id}/credits`, { amount: 5 });

    assert.deepEqual([made.body.balance.amount, made.body.balance.unlimited], [null, true]);
    assert.deepEqual([credit.status, credit.body.error.type], [409, 'conflict']);
  });
}

test('pages go on where the last one ended, whatever was inserted meanwhile', async () => {
  await using fixture = await openAccountFixture();
  const make = (name: string) => fixture.ask('POST', '/admin/v1/accounts', { name, plan: 'lite' });
  // Ids of one millisecond sort by chance: what counts is that the pages agree with the whole list.
  for (const name of ['a', 'b', 'c', 'd', 'e']) await make(name);
  const whole = (await fixture.ask('GET', '/admin/v1/accounts?limit=100')).body.data.map(
    (row: { id: string }) => row.id,
  );

  const first = await fixture.ask('GET', '/admin/v1/accounts?limit=2');
  await make('new');
  const second = await fixture.ask('GET', `/admin/v1/accounts?limit=2&cursor=${first.body.next_cursor}`);
  const third = await fixture.ask('GET', `/admin/v1/accounts?limit=2&cursor=${second.body.next_cursor}`);

  const seen = [first, second, third].flatMap(({ body }) => body.data.map((row: { id: string }) => row.id));
  assert.deepEqual(seen, whole);
  assert.deepEqual(
    [first, second, third].map(({ body }) => body.has_more),
    [true, true, false],
  );
  assert.equal(third.body.next_cursor, null);
});

const wrong: [string, 'GET' | 'POST' | 'PATCH', string, object | undefined, number, string?][] = [
  ['a made-up cursor', 'GET', '/admin/v1/accounts?cursor=abc', undefined, 400, 'cursor'],
  ['an account without a plan', 'POST', '/admin/v1/accounts', { name: 'x' }, 400, 'plan'],
  ['a plan that is not one', 'POST', '/admin/v1/accounts', { name: 'x', plan: 'gold' }, 400, 'plan'],
  ['an empty name', 'POST', '/admin/v1/accounts', { name: '', plan: 'pro' }, 400, 'name'],
  ['negative credits at first', 'POST', '/admin/v1/accounts', { name: 'x', plan: 'pro', credits: -1 }, 400, 'credits'],
  [
    'less than the least credits',
    'POST',
    '/admin/v1/accounts',
    { name: 'x', plan: 'pro', credits: 1e-7 },
    400,
    'credits',
  ],
  ['credits as text', 'POST', '/admin/v1/accounts', { name: 'x', plan: 'pro', credits: '5' }, 400, 'credits'],
  ['an unknown account', 'GET', '/admin/v1/accounts/acct_00000000000000000000000000', undefined, 404],
  ['an id that is none', 'GET', "/admin/v1/accounts/'%20or%201=1", undefined, 404],
  ['a change of an unknown account', 'PATCH', '/admin/v1/accounts/acct_x', { name: 'y' }, 404],
];

for (const [what, method, url, payload, status, param] of wrong) {
  test(`${what} is refused with ${status}`, async () => {
    await using fixture = await openAccountFixture();

    const answer = await fixture.ask(method, url, payload);

    assert.deepEqual([answer.status, answer.body.error.code, answer.body.error.param], [status, status, param]);
  });
}

test('a change of nothing is refused', async () => {
  await using fixture = await openAccountFixture();
  const { id } = await fixture.account();

  assert.equal((await fixture.ask('PATCH', `/admin/v1/accounts/${id}`, {})).status, 400);
});

test('credits are added and taken away, each with its entry', async () => {
  await using fixture = await openAccountFixture();
  const { id, key } = await fixture.account(10);

  const added = await fixture.ask('POST', `/admin/v1/accounts/${id}/credits`, { amount: 2.5, note: 'invoice 7' });
  const taken = await fixture.ask('POST', `/admin/v1/accounts/${id}/credits`, { amount: -20 });
  const none = await fixture.ask('POST', `/admin/v1/accounts/${id}/credits`, { amount: 0 });
  const tooLittle = await fixture.ask('POST', `/admin/v1/accounts/${id}/credits`, { amount: -0.000_000_9 });

  const { id: entryId, created_at, ...entry } = added.body;
  assert.match(entryId, /^led_/);
  assert.deepEqual(entry, {
    account_id: id,
    number: 2,
    kind: 'credit',
    amount: 2.5,
    held: 0,
    balance: { amount: 12.5, held: 0 },
    job_id: null,
    note: 'invoice 7',
  });
  assert.equal(taken.status, 201);
  assert.equal(none.status, 400);
  assert.deepEqual([tooLittle.status, tooLittle.body.error.param], [400, 'amount']);
  assert.equal((await fixture.balance(key)).json().amount, -7.5);
});

test('a key is shown once, works at once, and stops at once when it is revoked', async () => {
  await using fixture = await openAccountFixture();
  const { id, key, keyId } = await fixture.account(3);

  const before = await fixture.balance(key);
  const list = await fixture.ask('GET', `/admin/v1/accounts/${id}/keys`);
  const revoked = await fixture.ask('DELETE', `/admin/v1/keys/${keyId}`);
  const after = await fixture.balance(key);
  const again = await fixture.ask('DELETE', `/admin/v1/keys/${keyId}`);

  assert.match(key, /^vb_[0-9A-Za-z]{49}$/);
  const balance = { amount: 3, held: 0, units: 'credits', unlimited: false, rates: RATES, plan: 'pro' };
  assert.deepEqual(before.json(), balance);
  assert.deepEqual(Object.keys(list.body.data[0]).sort(), [
    ...['created_at', 'created_by', 'expires_at', 'id', 'last_used_at', 'name', 'prefix', 'scopes'],
  ]);
  assert.equal(list.body.data[0].prefix, key.slice(0, 8));
  assert.deepEqual([revoked.status, after.statusCode, again.status], [204, 401, 404]);
});

test('each key opens its own account', async () => {
  await using fixture = await openAccountFixture();
  const [one, two] = [await fixture.account(1), await fixture.account(2)];

  const amounts = await Promise.all([one, two].map(async ({ key }) => (await fixture.balance(key)).json().amount));

  assert.deepEqual(amounts, [1, 2]);
});

test('keys are stored as hashes only', async () => {
  await using fixture = await openAccountFixture();
  const { key } = await fixture.account();

  const rows = await fixture.db.rows({ text: 'select k::text from api_keys k' });

  assert.equal(JSON.stringify(rows).includes(key.slice(8)), false);
});

test('200 requests at once on a limit of 10 over two nodes: exactly 10 pass, also after a restart', async () => {
  const limit = { count: 10, windowMs: 60_000 };
  await using fixture = await openAccountFixture({ balance: limit });
  const { key } = await fixture.account();
  const otherDb = openDatabase(fixture.db.url, { maxConnections: 5 });
  const other = openAccountNode(otherDb, limit);

  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, i) => fixture.balance(key, i % 2 ? fixture.app : other)),
  );
  await other.close();
  const restarted = openAccountNode(otherDb, limit);
  const afterwards = await fixture.balance(key, restarted);
  await restarted.close();
  await otherDb.close();

  const passed = answers.filter((answer) => answer.statusCode === 200);
  assert.equal(passed.length, 10);
  assert.deepEqual(
    passed.map((answer) => Number(answer.headers['ratelimit-remaining'])).sort((a, b) => a - b),
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
  );
  const refused = [...answers.filter((answer) => answer.statusCode !== 200), afterwards];
  assert.equal(refused.length, 191);
  assert.match(
    refused[0]!.json().error.message,
    /^At most 10 requests for the balance .* in 60 s \(RATE_LIMIT_BALANCE\)/,
  );
  assert.ok(
    refused.every(
      (answer) => answer.statusCode === 429 && answer.json().retry_after >= 1 && answer.json().retry_after <= 60,
    ),
  );
});

test('a remembered refusal ends when it said it would', async () => {
  await using db = await openTestDatabase();
  let nowMs = 1_000;
  const limits = openLimits(
    db,
    { transcribe: { count: 1, windowMs: 60_000 }, balance: null, jobs: null, resend: null, live: null, default: null },
    () => nowMs,
  );
  const account = { id: 'acct_1', shard: 0, name: '', plan: 'pro' as const, unlimited: true };
  await limits.admit(account, 'transcribe');
  const refused = await limits.admit(account, 'transcribe');
  await db.run({ text: 'delete from rate_windows' });

  nowMs += 30_000;
  const recalled = await limits.admit(account, 'transcribe');
  nowMs += 30_001;
  const later = await limits.admit(account, 'transcribe');

  assert.deepEqual([refused?.kind, recalled?.kind, later?.kind], ['refused', 'refused', 'admitted']);
  assert.ok(recalled?.kind === 'refused' && recalled.retryAfterSeconds <= 30);
});

test('a changed plan is in force at once', async () => {
  const lookup = async () => ['93.184.216.34'];
  await using fixture = await openAccountFixture({
    more: (db) => webhookRoutes(runtimeOn(db, { secretBox, lookup })),
  });
  const { id, key } = await fixture.account();
  const change = (plan: string) => fixture.ask('PATCH', `/admin/v1/accounts/${id}`, { plan });
  const webhook = { url: 'https://hooks.example.com/', events: ['webhook.test'] };
  const create = async () => (await fixture.askAs(key, 'POST', '/v1/webhooks', webhook)).status;

  await change('lite');
  await create();
  const onLite = await create();
  await change('pro');
  const onPro = await create();

  assert.deepEqual([onLite, onPro], [403, 201]);
});

test('credits that are taken away are in force for the next upload', async () => {
  const found: (boolean | undefined)[] = [];
  const more: Route = {
    method: 'GET',
    path: '/v1/credit',
    auth: 'key',
    scope: 'any',
    summary: 'credit',
    tag: 'Test',
    schema: { answers: { 204: null } },
    async handle({ account }) {
      found.push(account.hadCredit);
      return { status: 204 };
    },
  };
  await using fixture = await openAccountFixture({ more: () => [more] });
  const { id, key } = await fixture.account(5);

  await fixture.askAs(key, 'GET', '/v1/credit');
  await fixture.ask('POST', `/admin/v1/accounts/${id}/credits`, { amount: -5 });
  await fixture.askAs(key, 'GET', '/v1/credit');

  assert.deepEqual(found, [true, false]);
});
