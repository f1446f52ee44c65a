import assert from 'node:assert/strict';
import { test } from 'node:test';
import { secretBox } from '../../../test/fixtures/webhooks/delivery.ts';
import { openWebhookFixture as openEnvironment } from '../../../test/fixtures/webhooks/webhook.ts';
import type { Lookup } from '../../egress/dns/lookup.ts';

const GOOD = { url: 'https://hooks.example.com/verbatim', events: ['transcription.completed'] };
const EXPECTED_KEYS = [
  ...[
    'id',
    'url',
    'events',
    'description',
    'headers',
    'max_per_second',
    'include',
    'active',
    'disabled_reason',
    'disabled_at',
  ],
  ...['consecutive_failures', 'failing_since', 'previous_secret_ends_at', 'created_at', 'updated_at'],
];

test('a created webhook shows its secret once, and the database holds it sealed', async () => {
  await using environment = await openEnvironment();
  const { call } = await environment.caller();

  const created = await call('POST', '/v1/webhooks', {
    ...GOOD,
    events: [...GOOD.events, ...GOOD.events],
    description: 'CRM',
  });
  const got = await call('GET', `/v1/webhooks/${created.json.id}`);
  const listed = await call('GET', '/v1/webhooks');

  assert.equal(created.status, 201);
  assert.deepEqual(Object.keys(created.json), [...EXPECTED_KEYS, 'secret']);
  assert.match(created.json.secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.deepEqual(created.json.events, ['transcription.completed']);
  const { secret, ...shown } = created.json;
  assert.deepEqual(got.json, shown);
  assert.deepEqual(listed.json, { data: [shown], has_more: false, next_cursor: null });
  const [row] = await environment.fixture.db.rows<{ secret: Buffer }>({ text: 'select secret from webhooks' });
  assert.equal(row!.secret.includes(secret.slice(6)), false);
  assert.equal(secretBox.open(created.json.id, row!.secret), secret);
});

for (const [plan, limit] of [
  ['lite', 1],
  ['pro', 5],
] as const) {
  test(`50 creations at once on a ${plan} account make exactly ${limit}, disabled ones counted`, async () => {
    await using environment = await openEnvironment();
    const { call } = await environment.caller(plan);
    const first = await call('POST', '/v1/webhooks', GOOD);
    await call('PATCH', `/v1/webhooks/${first.json.id}`, { active: false });

    const answers = await Promise.all(Array.from({ length: 49 }, () => call('POST', '/v1/webhooks', GOOD)));

    assert.equal(answers.filter((answer) => answer.status === 201).length, limit - 1);
    const refused = answers.filter((answer) => answer.status === 403);
    assert.equal(refused.length, 50 - limit);
    assert.equal(refused[0]?.json.error.type, 'plan_limit');
    assert.equal((await call('GET', '/v1/webhooks')).json.data.length, limit);
  });
}

const FORBIDDEN = [
  'http://hooks.example.com/',
  'https://hooks.example.com:8443/',
  'https://user:pass@hooks.example.com/',
  'https://127.0.0.1/',
  'https://2130706433/',
  'https://0x7f.1/',
  'https://[::1]/',
  'https://[::ffff:10.0.0.1]/',
  'https://169.254.169.254/latest/meta-data',
  'https://localhost/',
  'https://printer.local/',
  'https://metadata.google.internal/',
];
test('urls that the rules forbid are refused, at creation and at a change', async () => {
  await using environment = await openEnvironment();
  const { call } = await environment.caller();
  const webhook = await call('POST', '/v1/webhooks', GOOD);

  for (const url of FORBIDDEN) {
    const created = await call('POST', '/v1/webhooks', { ...GOOD, url });
    const changed = await call('PATCH', `/v1/webhooks/${webhook.json.id}`, { url });

    for (const answer of [created, changed]) {
      assert.deepEqual(
        [url, answer.status, answer.json.error.type, answer.json.error.param],
        [url, 400, 'forbidden_url', 'url'],
      );
    }
  }
});

test('who registers a url of the own machine is told the command that brings events there', async () => {
  await using environment = await openEnvironment();
  const { call } = await environment.caller();
  const messageFor = async (url: string) => (await call('POST', '/v1/webhooks', { ...GOOD, url })).json.error.message;

  assert.match(await messageFor('http://localhost:3000/hooks'), / bin\/verbatim listen --forward-to localhost:3000$/);
  assert.match(await messageFor('https://127.1/'), / bin\/verbatim listen --forward-to 127\.0\.0\.1$/);
  assert.doesNotMatch(await messageFor('http://hooks.example.com/'), /listen/);
  assert.doesNotMatch(await messageFor('https://10.0.0.1/'), /listen/);
});

const RESOLVED: [string, Lookup, number][] = [
  ['private', async () => ['10.0.0.1'], 400],
  ['one public and one private', async () => ['93.184.216.34', '10.0.0.1'], 400],
  ['6to4', async () => ['2002:7f00:1::'], 400],
  ['nothing', () => Promise.reject(Object.assign(new Error('gone'), { code: 'ENOTFOUND' })), 201],
  ['public', async () => ['93.184.216.34', '2606:2800:220:1::1'], 201],
];
for (const [what, lookup, status] of RESOLVED) {
  test(`a name that resolves to ${what} is answered ${status}`, async () => {
    await using environment = await openEnvironment({ lookup });
    const { call } = await environment.caller();

    const answer = await call('POST', '/v1/webhooks', GOOD);

    assert.equal(answer.status, status);
    assert.equal(answer.text.includes('10.0.0.1'), false);
  });
}

const MALFORMED: [object, string][] = [
  [{ events: GOOD.events }, 'url'],
  [{ url: GOOD.url }, 'events'],
  [{ ...GOOD, url: 5 }, 'url'],
  [{ ...GOOD, events: [] }, 'events'],
  [{ ...GOOD, events: ['job.done'] }, 'events'],
  [{ ...GOOD, description: 'x'.repeat(501) }, 'description'],
  [{ ...GOOD, secret: 'mine' }, 'secret'],
];
test('malformed and unknown fields are refused by name', async () => {
  await using environment = await openEnvironment();
  const { call } = await environment.caller();

  for (const [body, param] of MALFORMED) {
    const answer = await call('POST', '/v1/webhooks', body);

    assert.deepEqual([answer.status, answer.json.error.type, answer.json.error.param], [400, 'invalid_request', param]);
  }
});

test('a change touches what it names; an empty one is refused', async () => {
  await using environment = await openEnvironment();
  const { call } = await environment.caller();
  const { json: webhook } = await call('POST', '/v1/webhooks', { ...GOOD, description: 'CRM' });
  const path = `/v1/webhooks/${webhook.id}`;

  const empty = await call('PATCH', path, {});
  const changed = await call('PATCH', path, { url: 'https://other.example.com/x', events: ['webhook.test'] });
  const cleared = await call('PATCH', path, { description: null });

  assert.equal(empty.status, 400);
  assert.deepEqual(
    [changed.json.url, changed.json.events, changed.json.description],
    ['https://other.example.com/x', ['webhook.test'], 'CRM'],
  );
  assert.equal(cleared.json.description, null);
  assert.equal(cleared.json.url, 'https://other.example.com/x');
});

test('a webhook that is switched off drops what waits; switched on, its streak starts anew', async () => {
  await using environment = await openEnvironment();
  const { call, account } = await environment.caller();
  const { json: webhook } = await call('POST', '/v1/webhooks', GOOD);
  const path = `/v1/webhooks/${webhook.id}`;
  await environment.fixture.emit(account);
  await environment.fixture.db.run({ text: 'update webhooks set consecutive_failures = 7, failing_since = now()' });

  const off = await call('PATCH', path, { active: false });
  const deliveries = await environment.fixture.deliveries();
  await environment.fixture.emit(account);
  const test = await call('POST', `${path}/test`);
  const on = await call('PATCH', path, { active: true });

  assert.deepEqual([off.json.active, off.json.disabled_reason], [false, 'manual']);
  assert.ok(off.json.disabled_at);
  assert.deepEqual(
    deliveries.map((delivery) => delivery.state),
    ['dropped'],
  );
  assert.equal((await environment.fixture.deliveries()).length, 1);
  assert.deepEqual([test.status, test.json.error.type], [409, 'conflict']);
  assert.deepEqual([on.json.active, on.json.disabled_reason, on.json.disabled_at], [true, null, null]);
  assert.deepEqual([on.json.consecutive_failures, on.json.failing_since], [0, null]);
});

test('a test ping goes to that webhook alone, subscribed or not', async () => {
  await using environment = await openEnvironment();
  const { call } = await environment.caller();
  const { secret: _, ...webhook } = (await call('POST', '/v1/webhooks', GOOD)).json;
  await call('POST', '/v1/webhooks', { ...GOOD, events: ['webhook.test'] });

  const answer = await call('POST', `/v1/webhooks/${webhook.id}/test`);

  assert.equal(answer.status, 202);
  assert.deepEqual(answer.json, { event_id: answer.json.event_id, type: 'webhook.test' });
  const rows = await environment.fixture.db.rows<{ webhook_id: string; event_id: string }>({
    text: 'select webhook_id, event_id from deliveries',
  });
  assert.deepEqual(rows, [{ webhook_id: webhook.id, event_id: answer.json.event_id }]);
  const [event] = await environment.fixture.db.rows<{ body: Buffer }>({ text: 'select body from events' });
  assert.deepEqual(JSON.parse(event!.body.toString()).data, { webhook });
});

test('a rotation shows a new secret and keeps the one before for the overlap', async () => {
  await using environment = await openEnvironment();
  const { call } = await environment.caller();
  const { json: webhook } = await call('POST', '/v1/webhooks', GOOD);
  const path = `/v1/webhooks/${webhook.id}/rotate-secret`;
  const readRow = () =>
    environment.fixture.db.rows<{ secret: Buffer; previous: Buffer | null; seconds: number | null }>({
      text: `select secret, previous_secret as previous,
        extract(epoch from previous_secret_ends_at - updated_at)::float8 as seconds
        from webhooks`,
    });

  const overlapping = await call('POST', path, { overlap_seconds: 60 });
  const [during] = await readRow();
  const atOnce = await call('POST', path);
  const [after] = await readRow();
  const tooLong = await call('POST', path, { overlap_seconds: 86_401 });

  assert.notEqual(overlapping.json.secret, webhook.secret);
  assert.equal(secretBox.open(webhook.id, during!.secret), overlapping.json.secret);
  assert.equal(secretBox.open(webhook.id, during!.previous!), webhook.secret);
  assert.equal(during!.seconds, 60);
  const { previous_secret_ends_at: endsAt, updated_at: rotatedAt } = overlapping.json;
  assert.equal(Date.parse(endsAt) - Date.parse(rotatedAt), 60_000);
  assert.deepEqual([webhook.previous_secret_ends_at, atOnce.json.previous_secret_ends_at], [null, null]);
  assert.deepEqual([atOnce.status, after!.previous, after!.seconds], [200, null, null]);
  assert.deepEqual([tooLong.status, tooLong.json.error.param], [400, 'overlap_seconds']);
});

test('deliverers are notified of a webhook whose url, state or secret changed, or that is deleted', async () => {
  await using environment = await openEnvironment();
  const { call } = await environment.caller();
  const { json: webhook } = await call('POST', '/v1/webhooks', GOOD);
  const path = `/v1/webhooks/${webhook.id}`;
  let heard = Promise.withResolvers<string>();
  const stop = await environment.fixture.db.listen('webhook_changed', (id) => id && heard.resolve(id));
  const notifiedBy = async (method: 'PATCH' | 'POST' | 'DELETE', suffix = '', body?: object) => {
    heard = Promise.withResolvers();
    await call(method, `${path}${suffix}`, body);
    return await heard.promise;
  };

  const ids = [
    await notifiedBy('PATCH', '', { url: 'https://hooks.example.com/other' }),
    await notifiedBy('PATCH', '', { active: false }),
    await notifiedBy('POST', '/rotate-secret'),
    await notifiedBy('DELETE'),
  ];
  await stop();

  assert.deepEqual(ids, Array(4).fill(webhook.id));
});

test('a deleted webhook is gone, with all that waited for it', async () => {
  await using environment = await openEnvironment();
  const { call, account } = await environment.caller();
  const { json: webhook } = await call('POST', '/v1/webhooks', GOOD);
  await environment.fixture.emit(account);

  const deleted = await call('DELETE', `/v1/webhooks/${webhook.id}`);
  const again = await call('DELETE', `/v1/webhooks/${webhook.id}`);

  assert.deepEqual([deleted.status, deleted.text, again.status], [204, '', 404]);
  assert.deepEqual(
    (await environment.fixture.deliveries()).map((delivery) => delivery.state),
    ['dropped'],
  );
});

test("another account's webhook is as unknown as one that never was", async () => {
  await using environment = await openEnvironment();
  const owner = await environment.caller();
  const stranger = await environment.caller();
  const { json: webhook } = await owner.call('POST', '/v1/webhooks', GOOD);
  const without = (answer: { json: { error: unknown } }) => answer.json.error;

  for (const [method, suffix, body] of [
    ['GET', '', undefined],
    ['PATCH', '', { active: false }],
    ['DELETE', '', undefined],
    ['POST', '/test', undefined],
    ['POST', '/rotate-secret', undefined],
  ] as const) {
    const foreign = await stranger.call(method, `/v1/webhooks/${webhook.id}${suffix}`, body);
    const unknown = await stranger.call(method, `/v1/webhooks/wh_00000000000000000000000000${suffix}`, body);
    const misshapen = await stranger.call(method, `/v1/webhooks/x${suffix}`, body);

    assert.deepEqual([foreign.status, unknown.status, misshapen.status], [404, 404, 404]);
    assert.deepEqual(without(foreign), without(unknown));
    assert.deepEqual(without(misshapen), without(unknown));
  }
  assert.equal((await owner.call('GET', `/v1/webhooks/${webhook.id}`)).json.active, true);
});
