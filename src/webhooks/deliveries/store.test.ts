import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attemptOf, openDeliveryFixture } from '../../../test/fixtures/webhooks/delivery.ts';
import { evaluateStreak } from '../../rules/webhooks/auto-disable.ts';
import { updateWebhook } from '../endpoints/store.ts';
import { claimDueDeliveries, lockClaims, shardsWithDueDeliveries } from './claim-store.ts';
import { dropAllWaiting, dropUndeliverable } from './drop-store.ts';
import { finishAttempts } from './finish-store.ts';
import { handBackDeliveries } from './lease-store.ts';

const BOUNDS = { disableFailures: 10, disableMs: 1_800_000 };
const LEASE_MS = 20_000;
const MINUTE_MS = 60_000;

function later(ms: number): Date {
  return new Date(Date.now() + ms);
}

test('a claim has everything an attempt needs, and the delivery cannot be claimed again meanwhile', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account();
  const webhook = await fixture.webhook(account);
  const eventId = await fixture.emit(account);

  const [delivery, ...others] = await claimDueDeliveries(fixture.db, {
    shard: account.shard,
    limit: 10,
    leaseMs: LEASE_MS,
  });
  const again = await claimDueDeliveries(fixture.db, { shard: account.shard, limit: 10, leaseMs: LEASE_MS });

  assert.equal(others.length, 0);
  assert.equal(delivery?.webhookId, webhook.id);
  assert.equal(delivery.eventId, eventId);
  assert.equal(delivery.attempt, 1);
  assert.match(delivery.body.toString(), /"order": 12345678901234567890/);
  assert.deepEqual(again, []);
});

test('concurrent claims share the due deliveries, and each delivery is claimed once', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account();
  for (let i = 0; i < 5; i++) await fixture.webhook(account);
  for (let i = 0; i < 8; i++) await fixture.emit(account);
  const claim = () => claimDueDeliveries(fixture.db, { shard: account.shard, limit: 15, leaseMs: LEASE_MS });

  const claimed = (await Promise.all([claim(), claim(), claim(), claim()])).flat();

  assert.equal(claimed.length, 40);
  assert.equal(new Set(claimed.map((delivery) => delivery.id)).size, 40);
});

test('a claim with onLocked claims nothing while another transaction holds the lock of the shard', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account();
  await fixture.webhook(account);
  await fixture.emit(account);
  let lockedCount = 0;
  const claim = () =>
    claimDueDeliveries(fixture.db, {
      shard: account.shard,
      limit: 1,
      leaseMs: LEASE_MS,
      onLocked: () => lockedCount++,
    });

  const beside = await fixture.db.transaction(async (tx) => {
    await lockClaims(tx, account.shard);
    return await claim();
  });
  const alone = await claim();

  assert.deepEqual([beside.length, lockedCount, alone.length], [0, 1, 1]);
});

test('concurrent claims put at most 16 attempts of a webhook in flight', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account();
  await fixture.webhook(account);
  for (let i = 0; i < 40; i++) await fixture.emit(account);
  const claim = () => claimDueDeliveries(fixture.db, { shard: account.shard, limit: 100, leaseMs: LEASE_MS });

  const claimed = (await Promise.all([claim(), claim(), claim()])).flat();
  await finishAttempts(fixture.db, {
    shard: account.shard,
    attempts: claimed.slice(0, 3).map((one) => attemptOf(one)),
    ...BOUNDS,
  });
  const next = await claim();

  assert.equal(claimed.length, 16);
  assert.equal(next.length, 3);
});

test('a backlog of one webhook does not delay another', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account();
  const busy = await fixture.webhook(account);
  for (let i = 0; i < 60; i++) await fixture.emit(account);
  await fixture.db.run({ text: `update webhooks set events = '{transcription.failed}'` });
  const quiet = await fixture.webhook(account);
  await fixture.emit(account);

  const claimed = await claimDueDeliveries(fixture.db, { shard: account.shard, limit: 4, leaseMs: LEASE_MS });

  const webhookIds = claimed.map((delivery) => delivery.webhookId);
  assert.deepEqual(webhookIds.filter((id) => id === quiet.id).length, 1);
  assert.deepEqual(webhookIds.filter((id) => id === busy.id).length, 3);
});

test('among many webhooks the longest due come first, and a backlog of one does not hide the others', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account();
  const subscribe = (type: string, ids: string[]) =>
    fixture.db.run({ text: 'update webhooks set events = $1 where id = any($2)', values: [[type], ids] });
  const busy = await fixture.webhook(account);
  for (let i = 0; i < 60; i++) await fixture.emit(account);
  await subscribe('transcription.failed', [busy.id]);
  for (let i = 0; i < 40; i++) await fixture.webhook(account);
  await fixture.emit(account);
  const claim = () => claimDueDeliveries(fixture.db, { shard: account.shard, limit: 20, leaseMs: LEASE_MS });
  const webhooksOf = async () => (await claim()).map((delivery) => delivery.webhookId);

  const behindBacklog = await webhooksOf();
  await fixture.db.run({ text: 'delete from deliveries where webhook_id = $1', values: [busy.id] });
  const inOrder = [await webhooksOf(), await webhooksOf(), await webhooksOf(), await webhooksOf()].flat();

  assert.equal(new Set(behindBacklog).size, 20);
  assert.equal(inOrder.length, 40 - behindBacklog.filter((id) => id !== busy.id).length);
  assert.equal(new Set([...inOrder, ...behindBacklog]).size, 41);
});

test('a claim with healthyOnly claims only first attempts of healthy webhooks', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account();
  const healthy = await fixture.webhook(account);
  const failing = await fixture.webhook(account);
  const fresh = await fixture.webhook(account);
  await fixture.db.run({ text: 'update webhooks set has_succeeded = true where id <> $1', values: [fresh.id] });
  await fixture.db.run({ text: 'update webhooks set consecutive_failures = 1 where id = $1', values: [failing.id] });
  await fixture.emit(account);
  await fixture.emit(account);
  await fixture.db.run({
    text: 'update deliveries set attempt = 2 where id = (select min(id) from deliveries where webhook_id = $1)',
    values: [healthy.id],
  });

  const claimed = await claimDueDeliveries(fixture.db, {
    shard: account.shard,
    limit: 10,
    leaseMs: LEASE_MS,
    healthyOnly: true,
  });

  assert.deepEqual(
    claimed.map((delivery) => [delivery.webhookId, delivery.attempt]),
    [[healthy.id, 1]],
  );
});

test('a webhook has succeeded after its first success, is then claimed before new ones, and is new again with another url', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account();
  const { shard } = account;
  await fixture.webhook(account);
  const answering = await fixture.webhook(account);
  const claim = (limit: number) => claimDueDeliveries(fixture.db, { shard, limit, leaseMs: LEASE_MS });
  await fixture.emit(account);
  const fresh = await claim(2);
  const answered = fresh.filter(({ webhookId }) => webhookId === answering.id).map((delivery) => attemptOf(delivery));

  const { streaks } = await finishAttempts(fixture.db, { shard, attempts: answered, ...BOUNDS });
  await fixture.emit(account);
  const [second] = await claim(1);
  const url = 'https://other.example/';
  await updateWebhook(fixture.db, { shard, accountId: account.id }, answering.id, { url, now: new Date() });
  await fixture.emit(account);
  const moved = await claim(10);

  assert.deepEqual([...fresh.map(({ isDegraded }) => isDegraded), streaks], [true, true, []]);
  assert.deepEqual([second!.webhookId, second!.isDegraded], [answering.id, false]);
  assert.ok(moved.some(({ webhookId }) => webhookId === answering.id));
  assert.ok(moved.every(({ isDegraded }) => isDegraded));
});

test('a delivery that is not due is not claimed, and its shard is not listed', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account();
  await fixture.webhook(account);
  await fixture.emit(account, { firstDelayMs: MINUTE_MS });
  const claimAt = (now: Date) =>
    claimDueDeliveries(fixture.db, { shard: account.shard, limit: 10, leaseMs: LEASE_MS, now });

  const shardsNow = await shardsWithDueDeliveries(fixture.db);
  const tooEarly = await claimAt(new Date());
  const shardsLater = await shardsWithDueDeliveries(fixture.db, { now: later(2 * MINUTE_MS) });
  const shardsAhead = await shardsWithDueDeliveries(fixture.db, { aheadMs: 2 * MINUTE_MS });
  const inTime = await claimAt(later(2 * MINUTE_MS));

  assert.deepEqual(shardsNow, []);
  assert.equal(shardsAhead[0]?.shard, account.shard);
  assert.ok(shardsAhead[0].inMs > 0 && shardsAhead[0].inMs <= MINUTE_MS);
  assert.equal(tooEarly.length, 0);
  assert.deepEqual(shardsLater, [{ shard: account.shard, inMs: 0 }]);
  assert.equal(inTime.length, 1);
});

test('a delivery whose lease has ended is claimed again with the same attempt number and another id, and the late result is rejected', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account();
  const webhook = await fixture.webhook(account);
  await fixture.emit(account);
  const { shard } = account;

  const [first] = await claimDueDeliveries(fixture.db, { shard, limit: 1, leaseMs: LEASE_MS });
  const [second] = await claimDueDeliveries(fixture.db, {
    shard,
    limit: 1,
    leaseMs: LEASE_MS,
    now: later(LEASE_MS + 1000),
  });
  const late = await finishAttempts(fixture.db, {
    shard,
    attempts: [attemptOf(first!, { succeeded: false })],
    ...BOUNDS,
  });
  const inTime = await finishAttempts(fixture.db, { shard, attempts: [attemptOf(second!)], ...BOUNDS });

  assert.equal(second?.attempt, 1);
  assert.notEqual(second.attemptId, first?.attemptId);
  assert.match(second.attemptId, /^dlv_[0-9a-hjkmnp-tv-z]{26}$/);
  assert.deepEqual(late, { settledIds: [], streaks: [] });
  assert.deepEqual(inTime.settledIds, [second.id]);
  assert.deepEqual(
    (await fixture.attempts()).map((attempt) => attempt['id']),
    [second.attemptId],
  );
  assert.equal((await fixture.webhookState(webhook.id)).failures, 0);
});

test('a delivery that is handed back is due again at once, with the same attempt number', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account();
  await fixture.webhook(account);
  await fixture.emit(account);
  const { shard } = account;
  const [claimed] = await claimDueDeliveries(fixture.db, { shard, limit: 1, leaseMs: LEASE_MS });

  const stale = await handBackDeliveries(fixture.db, { shard, claims: [{ ...claimed!, attemptId: 'dlv_other' }] });
  const handed = await handBackDeliveries(fixture.db, { shard, claims: [claimed!] });
  const [again] = await claimDueDeliveries(fixture.db, { shard, limit: 1, leaseMs: LEASE_MS });

  assert.deepEqual([stale, handed], [0, 1]);
  assert.equal(again?.attempt, 1);
});

test('the delay of a retry starts when the failed attempt is recorded; the last failure exhausts the delivery', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account();
  await fixture.webhook(account);
  await fixture.emit(account);
  const { shard } = account;
  const now = later(1000);
  const [first] = await claimDueDeliveries(fixture.db, { shard, limit: 1, leaseMs: LEASE_MS, now });

  const failed = attemptOf(first!, { succeeded: false, retryAfterMs: 30_000 });
  await finishAttempts(fixture.db, { shard, attempts: [failed], ...BOUNDS, now });
  const [waiting] = await fixture.deliveries();
  const [second] = await claimDueDeliveries(fixture.db, { shard, limit: 1, leaseMs: LEASE_MS, now: later(40_000) });
  const last = attemptOf(second!, { succeeded: false, retryAfterMs: null });
  await finishAttempts(fixture.db, { shard, attempts: [last], ...BOUNDS });
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
  const [claimed] = await claimDueDeliveries(fixture.db, { shard: account.shard, limit: 1, leaseMs: LEASE_MS });
  const attempt = attemptOf(claimed!, { responseHeaders: '{"x":"\\"quoted\\", {braces}"}' });

  await finishAttempts(fixture.db, { shard: account.shard, attempts: [attempt], ...BOUNDS });

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
  const { shard } = account;
  const claimed = await claimDueDeliveries(fixture.db, { shard, limit: 6, leaseMs: LEASE_MS });
  const attempts = [false, false, true, false].map((succeeded, i) => attemptOf(claimed[i]!, { succeeded }));

  const first = await finishAttempts(fixture.db, { shard, attempts, ...BOUNDS });
  const repeated = await finishAttempts(fixture.db, { shard, attempts, ...BOUNDS });
  const more = claimed.slice(4).map((one) => attemptOf(one, { succeeded: false }));
  await finishAttempts(fixture.db, { shard, attempts: more, ...BOUNDS });

  assert.equal(first.settledIds.length, 4);
  assert.equal(repeated.settledIds.length, 0);
  const state = await fixture.webhookState(webhook.id);
  assert.equal(state.failures, 3);
  assert.ok(state.since);
});

test('a success ends the streak', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account();
  const webhook = await fixture.webhook(account);
  await fixture.emit(account);
  await fixture.db.run({ text: 'update webhooks set consecutive_failures = 9, failing_since = now()' });
  const [claimed] = await claimDueDeliveries(fixture.db, { shard: account.shard, limit: 1, leaseMs: LEASE_MS });

  await finishAttempts(fixture.db, { shard: account.shard, attempts: [attemptOf(claimed!)], ...BOUNDS });

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
    const [claimed] = await claimDueDeliveries(fixture.db, { shard: account.shard, limit: 1, leaseMs: LEASE_MS, now });

    const attempts = [attemptOf(claimed!, { succeeded: false })];
    const { streaks } = await finishAttempts(fixture.db, { shard: account.shard, attempts, ...BOUNDS, now });

    const streak = { consecutiveFailures: failuresBefore + 1, failingSinceMs: failingSinceMs ?? now.getTime() };
    const shouldDisable = evaluateStreak({ ...streak, nowMs: now.getTime(), ...BOUNDS }) === 'disable';
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
  const [claimed] = await claimDueDeliveries(fixture.db, { shard: account.shard, limit: 1, leaseMs: LEASE_MS });
  await fixture.db.run({ text: 'delete from webhooks' });

  const attempts = [attemptOf(claimed!, { succeeded: false })];
  await finishAttempts(fixture.db, { shard: account.shard, attempts, ...BOUNDS });

  assert.equal((await fixture.deliveries())[0]?.state, 'dropped');
  assert.deepEqual((await fixture.attempts()).map((one) => one['status']).sort(), ['dropped', 'failed']);
});

test('waiting deliveries of a disabled webhook are dropped and logged, those in flight are not', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account();
  const webhook = await fixture.webhook(account);
  const { shard } = account;
  for (let i = 0; i < 3; i++) await fixture.emit(account);
  await claimDueDeliveries(fixture.db, { shard, limit: 1, leaseMs: LEASE_MS });
  const drop = () => dropAllWaiting(fixture.db, { shard, webhookId: webhook.id, url: 'https://a.example/' });

  await drop();
  const whileActive = (await fixture.deliveries()).map((one) => one.state).sort();
  await fixture.db.run({
    text: `update webhooks set active = false, disabled_reason = 'manual', disabled_at = now() where id = $1`,
    values: [webhook.id],
  });
  await drop();

  assert.deepEqual(whileActive, ['sending', 'waiting', 'waiting']);
  assert.deepEqual((await fixture.deliveries()).map((one) => one.state).sort(), ['dropped', 'dropped', 'sending']);
  assert.deepEqual(
    (await fixture.attempts()).map((one) => one['status']),
    ['dropped', 'dropped'],
  );
});

test('due deliveries of disabled or deleted webhooks are dropped, also those whose lease has ended', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account();
  const webhook = await fixture.webhook(account);
  const gone = await fixture.webhook(account);
  const { shard } = account;
  await fixture.emit(account);
  await claimDueDeliveries(fixture.db, { shard, limit: 1, leaseMs: LEASE_MS });
  await fixture.db.run({ text: 'delete from webhooks where id = $1', values: [gone.id] });
  await fixture.db.run({
    text: `update webhooks set active = false, disabled_reason = 'manual', disabled_at = now() where id = $1`,
    values: [webhook.id],
  });

  const now = later(LEASE_MS + 1000);
  const claimed = await claimDueDeliveries(fixture.db, { shard, limit: 10, leaseMs: LEASE_MS, now });
  const dropped = await dropUndeliverable(fixture.db, { shard, now });

  assert.equal(claimed.length, 0);
  assert.equal(dropped, 2);
  assert.deepEqual(await shardsWithDueDeliveries(fixture.db, { now }), []);
});
