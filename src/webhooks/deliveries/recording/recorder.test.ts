import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runtimeOn } from '../../../../test/fixtures/runtime.ts';
import { until } from '../../../../test/fixtures/until.ts';
import { type FixtureAccount, finishedOf, openDeliveryFixture } from '../../../../test/fixtures/webhooks/delivery.ts';
import { type Database, openDatabase } from '../../../db/database.ts';
import type { Clock } from '../../../platform/clock.ts';
import { openMetrics } from '../../../platform/metrics.ts';
import type { FinishedAttempt } from './finished-attempt.ts';
import { Recorder } from './recorder.ts';

const STATEMENT_TIMEOUT_MS = 4_000;
const ON = { streak: () => assert.fail('recorded'), stall: () => undefined };

test('finish waits for one statement that times out and does not repeat it', async () => {
  let nowMs = 0;
  let tries = 0;
  const timedOut = async () => {
    tries += 1;
    nowMs += STATEMENT_TIMEOUT_MS;
    throw Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' });
  };
  const db = { rows: timedOut, run: timedOut, transaction: timedOut } as unknown as Database;
  const clock: Clock = {
    now: () => nowMs,
    sleep: async (ms) => {
      nowMs += ms;
    },
  };
  const recorder = new Recorder(runtimeOn(db, { clock }), ON);
  const end = recorder.record({ attemptId: 'dlv_x', succeeded: false, completedAt: new Date(0) } as FinishedAttempt);

  await recorder.finish();

  assert.deepEqual(await end, { kind: 'failed' });
  assert.ok(nowMs < 2 * STATEMENT_TIMEOUT_MS, `${tries} tries lasted ${nowMs} ms`);
});

test('an attempt that the database refuses to record is not counted as recorded', async () => {
  const refused = async () => {
    throw Object.assign(new Error('permission denied for table attempts'), { code: '42501' });
  };
  const db = { rows: refused, run: refused, transaction: refused } as unknown as Database;
  const metrics = openMetrics();
  const recorder = new Recorder(runtimeOn(db, { metrics }), ON);

  const attempt = { attemptId: 'dlv_x', succeeded: true, completedAt: new Date(0) } as FinishedAttempt;
  const end = await recorder.record(attempt);

  assert.deepEqual([end, (await metrics.attempts.get()).values], [{ kind: 'failed' }, []]);
});

test('while the connection is lost, attempts of no shard may start', async () => {
  const lost = async () => {
    throw Object.assign(new Error('Connection terminated unexpectedly'), { code: '08006' });
  };
  const recorder = new Recorder(runtimeOn({ rows: lost, run: lost, transaction: lost } as unknown as Database), ON);

  const end = recorder.record({ attemptId: 'dlv_x', succeeded: true, completedAt: new Date(0) } as FinishedAttempt);
  await recorder.finish();

  assert.deepEqual([(await end).kind, recorder.isAway], ['failed', true]);
});

test('a webhook that is locked stalls its own shard only', async () => {
  await using fixture = await openDeliveryFixture();
  const locked = await fixture.account();
  const other = await accountOfAnotherShard(fixture, locked);
  const webhook = await fixture.webhook(locked);
  await fixture.webhook(other);
  const failures: FinishedAttempt[] = [];
  for (const account of [locked, other]) {
    await fixture.emit(account);
    const [due] = await fixture.due(account);
    failures.push(finishedOf(due!, { succeeded: false }));
  }
  const stalls: [number, boolean][] = [];
  const stall = (...change: [number, boolean]) => stalls.push(change);
  // With the timeouts of the service: the statement that waits for the lock fails.
  const db = openDatabase(fixture.db.url, { maxConnections: 4 });
  const recorder = new Recorder(runtimeOn(db), { streak: () => undefined, stall });
  const blocker = openDatabase(fixture.db.url, { maxConnections: 1 });

  const { end, kinds } = await blocker.transaction(async (tx) => {
    await tx.rows({ text: 'select from webhooks where id = $1 for update', values: [webhook.id] });
    const [first, second] = failures.map((attempt) => recorder.record(attempt));
    const { kind } = await second!;
    await until('the stall', () => stalls.length > 0);
    return { end: first!, kinds: [kind, recorder.isAway] };
  });
  kinds.push((await end).kind);
  await Promise.all([blocker.close(), db.close()]);

  assert.deepEqual(kinds, ['recorded', false, 'recorded']);
  assert.deepEqual(stalls, [
    [locked.shard, true],
    [locked.shard, false],
  ]);
});

async function accountOfAnotherShard(
  fixture: Awaited<ReturnType<typeof openDeliveryFixture>>,
  { shard }: FixtureAccount,
): Promise<FixtureAccount> {
  const account = await fixture.account();
  return account.shard === shard ? await accountOfAnotherShard(fixture, { id: '', shard }) : account;
}
