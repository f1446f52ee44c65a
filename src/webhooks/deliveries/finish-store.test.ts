import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  attemptOf,
  DISABLE_BOUNDS,
  IS_DISTRIBUTED,
  openDeliveryFixture,
} from '../../../test/fixtures/webhooks/delivery.ts';
import type { Sql } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { evaluateStreak } from '../../rules/webhooks/auto-disable.ts';
import { finishAttempts } from './finish-store.ts';

function later(ms: number): Date {
  return new Date(Date.now() + ms);
}

test('the delay of a retry starts when the failed attempt is recorded; the last failure exhausts the delivery', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account();
  await fixture.webhook(account);
  await fixture.emit(account);
  const now = later(1000);
  const [first] = await fixture.due(account, { now });

  const failed = attemptOf(first!, { succeeded: false, retryAfterMs: 30_000 });
  await fixture.finish([failed], now);
  const [waiting] = await fixture.deliveries();
  const [second] = await fixture.due(account, { now: later(40_000) });
  const last = attemptOf(second!, { succeeded: false, retryAfterMs: null });
  await fixture.finish([last]);
  const [exhausted] = await fixture.deliveries();

  assert.equal(waiting?.state, 'waiting');
  assert.equal(waiting.attempt, 2);
  assert.equal(waiting.attemptId, failed.nextAttemptId);
  assert.equal(waiting.nextAt?.getTime(), now.getTime() + 30_000);
  assert.equal(exhausted?.state, 'exhausted');
  assert.deepEqual(
    (await fixture.attempts()).map((one) => [one['attempt'], one['status']]),
    [
      [1, 'failed'],
      [2, 'failed'],
    ],
  );
});

test('the log keeps the response of the receiver byte for byte', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account();
  await fixture.webhook(account);
  await fixture.emit(account);
  const [claimed] = await fixture.due(account);
  const attempt = attemptOf(claimed!, { responseHeaders: '{"x":"\\"quoted\\", {braces}"}' });

  await fixture.finish([attempt]);

  const [logged] = await fixture.attempts();
  assert.deepEqual(logged?.['response_body'], attempt.responseBody);
  assert.equal(logged?.['response_headers'], attempt.responseHeaders);
  assert.equal(logged?.['status'], 'succeeded');
  assert.equal(logged?.['dns_ms'], null);
});

test('each attempt counts once in the streak, in the order in which they ended', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account();
  const webhook = await fixture.webhook(account);
  for (let i = 0; i < 6; i++) await fixture.emit(account);
  const claimed = await fixture.due(account);
  const attempts = [false, false, true, false].map((succeeded, i) => attemptOf(claimed[i]!, { succeeded }));

  const first = await fixture.finish(attempts);
  const repeated = await fixture.finish(attempts);
  const more = claimed.slice(4).map((one) => attemptOf(one, { succeeded: false }));
  await fixture.finish(more);

  assert.equal(first.settled.length, 4);
  assert.equal(repeated.settled.length, 0);
  const state = await fixture.webhookState(webhook.id);
  assert.equal(state.failures, 3);
  assert.ok(state.since);
});

const skip = IS_DISTRIBUTED ? 'Citus locks rows of one shard only' : false;

test('attempts of several shards are recorded together, without those of a shard that was lost', { skip }, async () => {
  await using fixture = await openDeliveryFixture();
  const byShard = new Map<number, Awaited<ReturnType<typeof fixture.account>>>();
  while (byShard.size < 3) {
    const account = await fixture.account();
    byShard.set(account.shard, account);
  }
  const accounts = [...byShard.values()];
  const lost = accounts[1]!;
  for (const account of accounts) await fixture.webhook(account);
  for (const account of accounts) await fixture.emit(account);
  const claimed = (await Promise.all(accounts.map((account) => fixture.due(account)))).flat();
  const attempts = claimed.map((one, i) => attemptOf(one, { succeeded: i === 0 }));
  await fixture.db.run({
    text: 'update delivery_shards set epoch = epoch + 1 where shard = $1',
    values: [lost.shard],
  });

  const { settled, streaks } = await fixture.finish(attempts);

  const owned = attempts.filter(({ accountId }) => accountId !== lost.id);
  assert.deepEqual(settled.map(({ id }) => id).toSorted(), owned.map(({ deliveryId }) => deliveryId).toSorted());
  assert.deepEqual(
    (await fixture.attempts()).map((one) => [one['shard'], one['id']]).toSorted(),
    owned.map(({ shard, attemptId }) => [shard, attemptId]).toSorted(),
  );
  assert.deepEqual(
    streaks.map(({ webhookId }) => webhookId).toSorted(),
    owned.map(({ webhookId }) => webhookId).toSorted(),
  );
});

test('the statement for one shard, which a distributed database needs, records the same', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account();
  await fixture.webhook(account);
  for (let i = 0; i < 2; i++) await fixture.emit(account);
  const claimed = await fixture.due(account);
  const attempts = claimed.map((one, i) => attemptOf(one, { succeeded: i === 0 }));

  const recorded = await finishAttempts(fixture.db, { attempts, areOfOneShard: true, ...DISABLE_BOUNDS });
  const repeated = await finishAttempts(fixture.db, { attempts, areOfOneShard: true, ...DISABLE_BOUNDS });

  assert.deepEqual([recorded.settled.length, recorded.streaks[0]?.failuresAfter], [2, 1]);
  assert.deepEqual(repeated, { settled: [], streaks: [] });
  assert.deepEqual((await fixture.deliveries()).map(({ state }) => state).toSorted(), ['succeeded', 'waiting']);
});

test('a success ends the streak', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account();
  const webhook = await fixture.webhook(account);
  await fixture.emit(account);
  await fixture.db.run({ text: 'update webhooks set consecutive_failures = 9, failing_since = now()' });
  const [claimed] = await fixture.due(account);

  await fixture.finish([attemptOf(claimed!)]);

  assert.deepEqual(await fixture.webhookState(webhook.id), { active: true, reason: null, failures: 0, since: null });
});

const STREAKS: [number, number | null][] = [
  [0, null],
  [4, 1_799_000],
  [8, 3_600_000],
  [9, 1_799_000],
  [9, 1_800_000],
  [9, 3_600_000],
  [10, 1_000],
  [20, 1_800_000],
];
for (const [failuresBefore, spanMs] of STREAKS) {
  test(`failure ${failuresBefore + 1} after ${spanMs} ms disables exactly when the rule says so`, async () => {
    await using fixture = await openDeliveryFixture();
    const account = await fixture.account();
    const webhook = await fixture.webhook(account);
    await fixture.emit(account);
    const now = later(1000);
    const failingSinceMs = spanMs === null ? null : now.getTime() - spanMs;
    await fixture.db.run({
      text: 'update webhooks set consecutive_failures = $1, failing_since = $2',
      values: [failuresBefore, failingSinceMs === null ? null : new Date(failingSinceMs)],
    });
    const [claimed] = await fixture.due(account, { now });

    const attempts = [attemptOf(claimed!, { succeeded: false })];
    const { streaks } = await fixture.finish(attempts, now);

    const streak = { consecutiveFailures: failuresBefore + 1, failingSinceMs: failingSinceMs ?? now.getTime() };
    const shouldDisable = evaluateStreak({ ...streak, nowMs: now.getTime(), ...DISABLE_BOUNDS }) === 'disable';
    const state = await fixture.webhookState(webhook.id);
    assert.equal(streaks[0]?.disabled, shouldDisable);
    assert.equal(state.active, !shouldDisable);
    assert.equal(state.reason, shouldDisable ? 'consecutive_failures' : null);
    assert.equal(state.failures, failuresBefore + 1);
    assert.equal((await fixture.deliveries())[0]?.state, shouldDisable ? 'dropped' : 'waiting');
  });
}

test('an attempt that ends after its webhook was deleted is logged, and the delivery is dropped', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account();
  await fixture.webhook(account);
  await fixture.emit(account);
  const [claimed] = await fixture.due(account);
  await fixture.db.run({ text: 'delete from webhooks' });

  const attempts = [attemptOf(claimed!, { succeeded: false })];
  await fixture.finish(attempts);

  assert.equal((await fixture.deliveries())[0]?.state, 'dropped');
  assert.deepEqual((await fixture.attempts()).map((one) => one['status']).sort(), ['dropped', 'failed']);
});

test('a delivery that is dropped while its failed attempt is recorded does not count', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account();
  const webhook = await fixture.webhook(account);
  await fixture.emit(account);
  const [due] = await fixture.due(account);
  const other = openDatabase(fixture.db.url, { maxConnections: 1 });

  const finished = await other.transaction(async (tx) => {
    await tx.run({ text: 'delete from deliveries' });
    const finishing = fixture.finish([attemptOf(due!, { succeeded: false })]);
    while (!(await isSomebodyBlocked(tx)));
    return { finishing };
  });
  const { settled } = await finished.finishing;
  await other.close();

  assert.deepEqual(settled, []);
  assert.equal((await fixture.webhookState(webhook.id)).failures, 0);
});

async function isSomebodyBlocked(sql: Sql): Promise<boolean> {
  const text = !IS_DISTRIBUTED
    ? `select pid from pg_stat_activity where wait_event_type = 'Lock' and pg_backend_pid() = any(pg_blocking_pids(pid))`
    : 'select from citus_lock_waits where blocking_gpid = citus_backend_gpid()';
  return (await sql.rows({ text })).length > 0;
}
