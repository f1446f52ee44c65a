import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  DISABLE_BOUNDS,
  finishedOf,
  IS_DISTRIBUTED,
  openDeliveryFixture,
} from '../../../../test/fixtures/webhooks/delivery.ts';
import { openDatabase, type Sql } from '../../../db/database.ts';

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

  const failed = finishedOf(first!, { succeeded: false });
  const { followed } = await fixture.finish([failed], now);
  const [waiting] = await fixture.deliveries();
  const [second] = await fixture.due(account, { now: later(40_000) });
  const last = finishedOf(second!, { succeeded: false, attempt: 4 });
  await fixture.finish([last]);
  const [exhausted] = await fixture.deliveries();

  assert.equal(waiting?.state, 'waiting');
  assert.equal(waiting.attempt, 2);
  assert.equal(waiting.attemptId, followed.get(failed.deliveryId)?.next?.attemptId);
  assert.equal(waiting.nextAt?.getTime(), now.getTime() + 30_000);
  assert.equal(exhausted?.state, 'exhausted');
  assert.deepEqual(
    (await fixture.attempts()).map((one) => [one['attempt'], one['status']]),
    [
      [1, 'failed'],
      [4, 'failed'],
    ],
  );
});

test('the log keeps the response of the receiver byte for byte', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account();
  await fixture.webhook(account);
  await fixture.emit(account);
  const [claimed] = await fixture.due(account);
  const attempt = finishedOf(claimed!, { responseHeaders: '{"x":"\\"quoted\\", {braces}"}' });

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
  const attempts = [false, false, true, false].map((succeeded, i) => finishedOf(claimed[i]!, { succeeded }));

  const first = await fixture.finish(attempts);
  const repeated = await fixture.finish(attempts);
  const more = claimed.slice(4).map((one) => finishedOf(one, { succeeded: false }));
  await fixture.finish(more);

  assert.equal(first.followed.size, 4);
  assert.equal(repeated.followed.size, 0);
  const state = await fixture.webhookState(webhook.id);
  assert.equal(state.failures, 3);
  assert.ok(state.since);
});

test('attempts are not recorded when the shard was lost', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account();
  await fixture.webhook(account);
  await fixture.emit(account);
  const [claimed] = await fixture.due(account);
  await fixture.db.run({ text: 'update delivery_shards set epoch = epoch + 1' });

  const recorded = await fixture.finish([finishedOf(claimed!, { succeeded: false })]);

  assert.deepEqual(recorded, { followed: new Map(), streaks: [] });
  assert.deepEqual(await fixture.attempts(), []);
});

test('a success ends the streak', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account();
  const webhook = await fixture.webhook(account);
  await fixture.emit(account);
  await fixture.db.run({ text: 'update webhooks set consecutive_failures = 9, failing_since = now()' });
  const [claimed] = await fixture.due(account);

  await fixture.finish([finishedOf(claimed!)]);

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

    const attempts = [finishedOf(claimed!, { succeeded: false })];
    const { streaks } = await fixture.finish(attempts, now);

    const { disableFailures, disableMs } = DISABLE_BOUNDS;
    const shouldDisable = failuresBefore + 1 >= disableFailures && (spanMs ?? 0) >= disableMs;
    const state = await fixture.webhookState(webhook.id);
    assert.equal(streaks[0]?.verdict === 'disable', shouldDisable);
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

  const attempts = [finishedOf(claimed!, { succeeded: false })];
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
    const finishing = fixture.finish([finishedOf(due!, { succeeded: false })]);
    while (!(await isSomebodyBlocked(tx)));
    return { finishing };
  });
  const { followed } = await finished.finishing;
  await other.close();

  assert.equal(followed.size, 0);
  assert.equal((await fixture.webhookState(webhook.id)).failures, 0);
});

async function isSomebodyBlocked(sql: Sql): Promise<boolean> {
  const text = !IS_DISTRIBUTED
    ? `select pid from pg_stat_activity where wait_event_type = 'Lock' and pg_backend_pid() = any(pg_blocking_pids(pid))`
    : 'select from citus_lock_waits where blocking_gpid = citus_backend_gpid()';
  return (await sql.rows({ text })).length > 0;
}
