import assert from 'node:assert/strict';
import { test } from 'node:test';
import { finishedOf, RETRIES } from '../../../test/fixtures/webhooks/delivery.ts';
import { openWebhookFixture } from '../../../test/fixtures/webhooks/webhook.ts';
import type { Sql, Statement } from '../../db/database.ts';
import type { FinishedAttempt } from '../deliveries/recording/finished-attempt.ts';
import { recordWithStreaks } from '../deliveries/recording/follow-attempts.ts';
import { listAttemptsOf } from '../events/log-store.ts';
import { showAttempt } from '../events/routes.ts';
import { findLogged } from './log-store.ts';

const ENTRY_KEYS = [
  ...['id', 'webhook_id', 'event_id', 'event_type', 'url', 'attempt', 'status', 'response_status', 'error'],
  ...['duration_ms', 'timings', 'created_at', 'completed_at', 'next_attempt_at'],
];

/** A pro account with one webhook, and ways to make entries in its log. */
async function openEnvironment(options: Parameters<typeof openWebhookFixture>[0] = {}) {
  const web = await openWebhookFixture(options);
  const { call, account } = await web.caller();
  const webhook = await web.fixture.webhook(account);
  const path = `/v1/webhooks/${webhook.id}`;
  const { db } = web.fixture;
  async function attemptAll(result: Partial<FinishedAttempt>) {
    const due = await web.fixture.due(account);
    const attempts = due.map((delivery) => finishedOf(delivery, result));
    await recordWithStreaks(db, { attempts, disableFailures: 1000, disableMs: 0, ...RETRIES });
    return attempts;
  }
  const list = async (query = '') => (await call('GET', `${path}/deliveries${query}`)).json;
  return { ...web, call, account, webhook, path, db, attemptAll, list, emit: () => web.fixture.emit(account) };
}

test('the log shows attempts made and the one that waits, newest first', async () => {
  await using environment = await openEnvironment();
  const eventId = await environment.emit();
  const [failed] = await environment.attemptAll({ succeeded: false, dnsMs: 1.5 });

  const { data } = await environment.list();

  assert.deepEqual(
    data.map((entry: { status: string; attempt: number }) => [entry.status, entry.attempt]),
    [
      ['pending', 2],
      ['failed', 1],
    ],
  );
  const [pending, made] = data;
  assert.deepEqual(Object.keys(made), ENTRY_KEYS);
  assert.deepEqual(Object.keys(pending), ENTRY_KEYS);
  assert.deepEqual([made.id, made.event_id, made.response_status], [failed!.attemptId, eventId, 500]);
  assert.deepEqual(made.error, { reason: 'http_status', message: 'The receiver answered 500.' });
  assert.deepEqual(made.timings, { dns_ms: 1.5, connect_ms: null, tls_ms: null, first_byte_ms: 1, reused: true });
  assert.equal(pending.id, (await environment.fixture.deliveries())[0]!.attemptId);
  assert.equal(made.next_attempt_at, pending.next_attempt_at);
  assert.deepEqual([pending.completed_at, pending.error, pending.duration_ms], [null, null, null]);
});

const REUSE: [what: string, attempt: Partial<FinishedAttempt>, reused: boolean][] = [
  ['that timed out on an open connection', { errorReason: 'timeout', remoteAddress: '203.0.113.7' }, true],
  ['on a new connection', { errorReason: 'timeout', remoteAddress: '203.0.113.7', connectMs: 2, tlsMs: 3 }, false],
  ['without a connection', { errorReason: 'timeout', remoteAddress: null }, false],
  ['that got no other connection', { errorReason: 'connect', remoteAddress: '203.0.113.7' }, false],
];
for (const [what, attempt, reused] of REUSE) {
  test(`an attempt ${what} has reused: ${reused}, in the log, in its event and alone`, async () => {
    await using environment = await openEnvironment();
    const eventId = await environment.emit();
    const [made] = await environment.attemptAll({
      ...attempt,
      succeeded: false,
      responseStatus: null,
      firstByteMs: null,
    });

    const { data } = await environment.list();
    const alone = (await environment.call('GET', `${environment.path}/deliveries/${made!.attemptId}`)).json;
    const ofEvent = await listAttemptsOf(environment.db, { shard: environment.account.shard, id: eventId });

    const shown = [data, ofEvent.map(showAttempt)].map((entries) =>
      entries.map(({ timings }: { timings: { reused: boolean } }) => timings.reused),
    );
    assert.deepEqual([...shown, alone.timings.reused], [[false, reused], [false, reused], reused]);
  });
}

test('pages show every entry once, although entries come in meanwhile', async () => {
  await using environment = await openEnvironment();
  for (let i = 0; i < 7; i++) await environment.emit();
  await environment.attemptAll({});
  for (let i = 0; i < 3; i++) await environment.emit();
  const all = (await environment.list('?limit=100')).data.map((entry: { id: string }) => entry.id);

  const seen: string[] = [];
  let cursor = '';
  do {
    const page = await environment.list(`?limit=4${cursor}`);
    seen.push(...page.data.map((entry: { id: string }) => entry.id));
    cursor = page.has_more ? `&cursor=${page.next_cursor}` : '';
    await environment.emit();
  } while (cursor !== '');

  assert.equal(all.length, 10);
  assert.deepEqual(seen, all);
});

test('filters choose by status, type, event and time', async () => {
  await using environment = await openEnvironment();
  await environment.emit();
  const [made] = await environment.attemptAll({});
  const eventId = await environment.emit();
  const count = async (query: string) => (await environment.list(query)).data.length;
  const hour = 3_600_000;
  const [past, future] = [new Date(Date.now() - hour).toISOString(), new Date(Date.now() + hour).toISOString()];

  assert.equal(await count('?status=succeeded'), 1);
  assert.equal(await count('?status=pending'), 1);
  assert.equal(await count('?status=dropped'), 0);
  assert.equal(await count('?event_type=transcription.completed'), 2);
  assert.equal(await count('?event_type=webhook.test'), 0);
  assert.equal(await count(`?event_id=${eventId}`), 1);
  assert.equal(await count(`?event_id=${made!.eventId}`), 1);
  assert.equal(await count(`?after=${past}&before=${future}`), 2);
  assert.equal(await count(`?after=${future}`), 0);
  assert.equal(await count(`?before=${past}`), 0);
  assert.equal(await count('?after=2020-01-01'), 2);
  assert.equal((await environment.call('GET', `${environment.path}/deliveries?status=lost`)).status, 400);
  assert.equal((await environment.call('GET', `${environment.path}/deliveries?after=yesterday`)).status, 400);
  const reversed = await environment.call('GET', `${environment.path}/deliveries?after=${future}&before=${past}`);
  assert.deepEqual([reversed.status, reversed.json.error.param], [400, 'before']);
});

test('one entry shows the request as sent and the answer', async () => {
  await using environment = await openEnvironment();
  await environment.emit();
  const [made] = await environment.attemptAll({
    requestHeaders: '{"X-Service-Attempt":"1"}',
    responseHeaders: '{"x-note":"hi"}',
    responseBody: Buffer.from('thanks'),
  });
  await environment.emit();
  const pending = (await environment.list('?status=pending')).data[0];

  const full = await environment.call('GET', `${environment.path}/deliveries/${made!.attemptId}`);
  const waiting = await environment.call('GET', `${environment.path}/deliveries/${pending.id}`);

  assert.deepEqual(full.json.request.headers, { 'X-Service-Attempt': '1' });
  assert.equal(JSON.parse(full.json.request.body).id, made!.eventId);
  assert.deepEqual(full.json.response, { headers: { 'x-note': 'hi' }, body: 'thanks' });
  assert.equal(full.text.includes('secret'), false);
  assert.deepEqual([waiting.json.status, waiting.json.request, waiting.json.response], ['pending', null, null]);
});

test('a redelivery sends the same event again from attempt 1, under new ids', async () => {
  await using environment = await openEnvironment();
  const eventId = await environment.emit();
  const [made] = await environment.attemptAll({});

  const answer = await environment.call('POST', `${environment.path}/deliveries/${made!.attemptId}/redeliver`);

  assert.deepEqual([answer.status, answer.json], [202, { event_id: eventId }]);
  const [again, before] = (await environment.list()).data;
  assert.deepEqual([again.event_id, again.attempt, again.status], [eventId, 1, 'pending']);
  assert.notEqual(again.id, before.id);
});

test('nothing is sent again to a disabled webhook', async () => {
  await using environment = await openEnvironment();
  await environment.emit();
  const [made] = await environment.attemptAll({});
  await environment.call('PATCH', environment.path, { active: false });

  const redelivered = await environment.call('POST', `${environment.path}/deliveries/${made!.attemptId}/redeliver`);
  const recovered = await environment.call('POST', `${environment.path}/recover`, { since: '2026-01-01T00:00:00Z' });

  assert.deepEqual([redelivered.status, recovered.status], [409, 409]);
  assert.equal((await environment.list('?status=pending')).data.length, 0);
});

test('a recovery sends what the webhook did not accept, once, however often it is asked for', async () => {
  await using environment = await openEnvironment();
  await environment.emit();
  await environment.attemptAll({});
  const failedId = await environment.emit();
  await environment.attemptAll({ succeeded: false, attempt: 4 });
  await environment.call('PATCH', environment.path, { active: false });
  const missedId = await environment.emit();
  await environment.call('PATCH', environment.path, { active: true });
  const waitingId = await environment.emit();
  const recover = () => environment.call('POST', `${environment.path}/recover`, { since: '2020-01-01T00:00:00Z' });

  const answers = await Promise.all([recover(), recover(), recover()]);
  const tooEarly = await environment.call('POST', `${environment.path}/recover`, {
    since: '2020-01-01T00:00:00Z',
    until: '2020-01-02T00:00:00Z',
  });

  assert.deepEqual(answers.map((answer) => answer.json.events).sort(), [0, 0, 2]);
  assert.deepEqual(tooEarly.json, { events: 0 });
  const pending = (await environment.list('?status=pending')).data.map((entry: { event_id: string }) => entry.event_id);
  assert.deepEqual(pending.sort(), [failedId, missedId, waitingId].sort());
});

test('a recovery of more events than one request looks at says from where to ask again, and none is left out', async () => {
  await using environment = await openEnvironment({ maxRecoveryBatches: 1 });
  const { account } = environment;
  await environment.db.run({
    text: `insert into events (shard, id, account_id, type, body, created_at)
      select $1, 'evt_' || n, $2, 'transcription.completed', '{}', timestamptz '2026-01-01' + n / 3 * interval '1 s'
      from generate_series(1, 5000) n`,
    values: [account.shard, account.id],
  });
  const answers = [];
  for (let since: string | undefined = '2026-01-01T00:00:00Z'; since; since = answers.at(-1)?.next_since) {
    const { json } = await environment.call('POST', `${environment.path}/recover`, { since });
    answers.push(json);
  }

  assert.equal(answers.length, 3);
  assert.equal(
    answers.reduce((sum, { events }) => sum + events, 0),
    5_000,
  );
  const [waiting] = await environment.db.rows<{ number: number }>({
    text: 'select count(distinct event_id) as number from deliveries',
  });
  assert.equal(waiting!.number, 5_000);
});

test('an entry whose stored headers are no JSON is shown without them', async () => {
  await using environment = await openEnvironment();
  await environment.emit();
  const [made] = await environment.attemptAll({ responseHeaders: '{"x-note":"\\\\" \\\\"}' });

  const entry = await environment.call('GET', `${environment.path}/deliveries/${made!.attemptId}`);

  assert.deepEqual([entry.status, entry.json.response.headers], [200, {}]);
});

test("another account's log is unknown, and so is an entry of another webhook", async () => {
  await using environment = await openEnvironment();
  await environment.emit();
  const [made] = await environment.attemptAll({});
  const other = await environment.fixture.webhook(environment.account);
  const stranger = await environment.caller();
  const entry = `/deliveries/${made!.attemptId}`;

  const answers = [
    await stranger.call('GET', `${environment.path}/deliveries`),
    await stranger.call('GET', environment.path + entry),
    await stranger.call('POST', `${environment.path}${entry}/redeliver`),
    await stranger.call('POST', `${environment.path}/recover`, { since: '2020-01-01T00:00:00Z' }),
    await environment.call('GET', `/v1/webhooks/${other.id}${entry}`),
    await environment.call('GET', `${environment.path}/deliveries/x`),
  ];

  assert.deepEqual(
    answers.map((answer) => answer.status),
    answers.map(() => 404),
  );
});

test('an attempt that is recorded while it is looked up is found', async () => {
  await using environment = await openEnvironment();
  await environment.emit();
  const { data } = await environment.list();
  const place = { shard: environment.account.shard, webhookId: environment.webhook.id };
  let statements = 0;
  const db: Sql = {
    ...environment.db,
    async rows<Row>(statement: Statement) {
      const rows = await environment.db.rows<Row>(statement);
      if (++statements === 1) await environment.attemptAll({});
      return rows;
    },
  };

  const found = await findLogged(db, place, data[0].id);

  assert.equal(found?.status, 'succeeded');
});
