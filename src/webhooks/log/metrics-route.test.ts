import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { until } from '../../../test/fixtures/until.ts';
import { EMPTY_INTERVAL } from '../../../test/fixtures/webhooks/empty-interval.ts';
import { insertLogEntries, type LogEntry } from '../../../test/fixtures/webhooks/log-entries.ts';
import { openWebhookFixture } from '../../../test/fixtures/webhooks/webhook.ts';

const HOUR_MS = 3_600_000;
/** The beginning of an hour some hours ago. */
const BEGIN_MS = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - 5 * HOUR_MS;
const MAX_ENTRIES = 40;

let environment: Awaited<ReturnType<typeof openWebhookFixture>>;
before(async () => {
  environment = await openWebhookFixture({ maxMetricsEntries: MAX_ENTRIES });
});
after(() => environment[Symbol.asyncDispose]());

async function openHook(entries: LogEntry[] = []) {
  const { call, account } = await environment.caller();
  const { id: webhookId } = await environment.fixture.webhook(account);
  await insertLogEntries(environment.fixture.db, { account, webhookId }, entries);
  const read = (query: string) => call('GET', `/v1/webhooks/${webhookId}/metrics?${query}`);
  return { account, call, webhookId, read };
}

const iso = (ms: number) => new Date(ms).toISOString();
const span = (fromMs: number, toMs: number, bucket: string) => `from=${iso(fromMs)}&to=${iso(toMs)}&bucket=${bucket}`;
const FAILED = { status: 'failed' } as const;

test('attempts count in the hour in which they ended, by outcome and reason, with their durations', async () => {
  const { read } = await openHook([
    ...[10, 20, 30, 40].map((durationMs) => ({ createdAtMs: BEGIN_MS + 60_000, durationMs })),
    { ...FAILED, createdAtMs: BEGIN_MS + 60_000, reason: 'timeout', durationMs: 5_000 },
    { ...FAILED, createdAtMs: BEGIN_MS + 60_000, reason: 'timeout', durationMs: 5_000 },
    { ...FAILED, createdAtMs: BEGIN_MS + 60_000, reason: 'tls', durationMs: 1 },
    // A retry that waited over the end of the hour.
    { createdAtMs: BEGIN_MS + HOUR_MS - 1_000, completedAtMs: BEGIN_MS + HOUR_MS + 600_000, attempt: 4, durationMs: 7 },
    { createdAtMs: BEGIN_MS + HOUR_MS, status: 'dropped', attempt: 2 },
  ]);

  const { status, json } = await read(span(BEGIN_MS, BEGIN_MS + 3 * HOUR_MS, 'hour'));

  assert.equal(status, 200);
  const { data, ...head } = json;
  assert.deepEqual(head, { bucket: 'hour', from: iso(BEGIN_MS), to: iso(BEGIN_MS + 3 * HOUR_MS), truncated: false });
  assert.deepEqual(data, [
    {
      start: iso(BEGIN_MS),
      attempts: 7,
      succeeded: 4,
      failed: 3,
      dropped: 0,
      reasons: { timeout: 2, tls: 1 },
      p50_ms: 30,
      p95_ms: 5_000,
      waiting: 1,
    },
    {
      start: iso(BEGIN_MS + HOUR_MS),
      attempts: 1,
      succeeded: 1,
      failed: 0,
      dropped: 1,
      reasons: {},
      p50_ms: 7,
      p95_ms: 7,
      waiting: 0,
    },
    { start: iso(BEGIN_MS + 2 * HOUR_MS), ...EMPTY_INTERVAL },
  ]);
});

test('deliveries that wait now are counted in the current bucket, and in those before since they began to wait', async () => {
  const { account, read } = await openHook();
  const begunMs = Date.now() - HOUR_MS;
  await environment.fixture.emit(account, { now: new Date(begunMs) });
  await environment.fixture.emit(account);

  const { data } = (await read(span(begunMs - 2 * HOUR_MS, Date.now() + 1_000, 'hour'))).json;

  const waiting = data.map((bucket: { waiting: number }) => bucket.waiting);
  assert.deepEqual(waiting.slice(0, 2), [0, 0]);
  assert.equal(waiting.at(-1), 2);
});

test('the figures of random logs are those that a list of the entries gives', async () => {
  for (let seed = 1; seed <= 8; seed++) {
    const random = randomFrom(seed);
    const entries: LogEntry[] = Array.from({ length: MAX_ENTRIES - 1 }, () => {
      const status = random.pick(['succeeded', 'failed', 'dropped'] as const);
      const attempt = 1 + random.integer(4);
      const createdAtMs = BEGIN_MS + random.integer(30 * 60_000);
      const completedAtMs = createdAtMs + random.integer(attempt === 1 ? 10_000 : 33 * 60_000);
      const durationMs = { succeeded: 10, failed: 20, dropped: undefined }[status];
      const made = { ...(durationMs && { durationMs }), ...(status === 'failed' && { reason: 'dns' }) };
      return { status, attempt, createdAtMs, completedAtMs, ...made };
    });
    const { read } = await openHook(entries);

    const { data } = (await read(span(BEGIN_MS + 15 * 60_000, BEGIN_MS + HOUR_MS, 'minute'))).json;

    assert.equal(data.length, 45);
    for (const { start, succeeded, failed, dropped, waiting } of data) {
      const [startMs, endMs] = [Date.parse(start), Date.parse(start) + 60_000];
      const ended = entries.filter(({ completedAtMs }) => completedAtMs! >= startMs && completedAtMs! < endMs);
      const counts = ['succeeded', 'failed', 'dropped'].map(
        (status) => ended.filter((e) => e.status === status).length,
      );
      const waits = entries.filter((e) => e.createdAtMs < endMs && e.completedAtMs! >= endMs).length;
      assert.deepEqual([succeeded, failed, dropped, waiting], [...counts, waits], `seed ${seed}, ${start}`);
    }
  }
});

test('of a log with too many entries the newest buckets are shown, and the answer says so', async () => {
  const perHour = MAX_ENTRIES / 2;
  const { read } = await openHook(
    Array.from({ length: 4 * perHour }, (_, index) => ({ createdAtMs: BEGIN_MS + (index * HOUR_MS) / perHour })),
  );

  const { json } = await read(span(BEGIN_MS, BEGIN_MS + 4 * HOUR_MS, 'hour'));

  assert.deepEqual([json.truncated, json.from], [true, iso(BEGIN_MS + 2 * HOUR_MS)]);
  assert.deepEqual(
    json.data.map((bucket: { succeeded: number }) => bucket.succeeded),
    [perHour, perHour],
  );
});

test('times that are malformed, reversed or too long are refused, and so is another account', async () => {
  const { read, webhookId } = await openHook();
  const stranger = await environment.caller();
  const refused: [string, string][] = [
    ['from=yesterday', 'from'],
    ['to=x', 'to'],
    ['bucket=week', 'bucket'],
    ['interval=hour', 'interval'],
    [span(BEGIN_MS, BEGIN_MS - HOUR_MS, 'hour'), 'from'],
    [span(BEGIN_MS - 48 * HOUR_MS, BEGIN_MS, 'minute'), 'from'],
    [span(BEGIN_MS - 40 * 24 * HOUR_MS, BEGIN_MS, 'hour'), 'from'],
  ];

  for (const [query, param] of refused) {
    const { status, json } = await read(query);
    assert.deepEqual([status, json.error.param], [400, param], query);
  }
  const counts = await Promise.all(
    ['minute', 'hour', 'day'].map(async (b) => (await read(`bucket=${b}`)).json.data.length),
  );
  assert.deepEqual(counts, [60, 24, 30]);
  assert.equal((await read('from=2026-11-01&to=2026-11-03&bucket=day')).json.data.length, 2);
  assert.equal((await stranger.call('GET', `/v1/webhooks/${webhookId}/metrics`)).status, 404);
});

test('an account reads two figures at once, whatever it asks for, and others read theirs', async () => {
  const { db } = environment.fixture;
  const [{ read }, other] = [await openHook(), await openHook()];
  const text = `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%firsts as materialized%'
    and datname = current_database()`;
  const waiting = async () => (await db.rows({ text })).length;
  const answers = await db.transaction(async (tx) => {
    await tx.run({ text: 'lock table attempts in access exclusive mode' });
    const asked = Array.from({ length: 4 }, () => read('bucket=hour'));
    await until('the reads of the account', async () => (await waiting()) >= 2);
    asked.push(other.read('bucket=hour'));
    await until('the read of the other account', async () => (await waiting()) >= 3);
    assert.equal(await waiting(), 3);
    return asked;
  });

  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  assert.deepEqual(statuses, Array(5).fill(200));
});
