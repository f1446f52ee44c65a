import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attemptOf, openDeliveryFixture } from '../../../test/fixtures/webhooks/delivery.ts';
import { handBackDeliveries, releaseLeasesOf } from './lease-store.ts';

test('deliveries of a process that has ended are due again at once, with the same attempt number; its late result is rejected', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account();
  await fixture.webhook(account);
  await fixture.emit(account);
  await fixture.emit(account);
  const claim = (holder: string) => fixture.claim(account, { limit: 1, holder });
  const [dead, alive] = [(await claim('node_a/1'))[0]!, (await claim('node_a/2'))[0]!];

  const released = await releaseLeasesOf(fixture.db, 'node_a/1');
  const [again, ...others] = await claim('node_a/3');
  const late = attemptOf(dead, { succeeded: false, retryAfterMs: 30_000 });
  const recorded = await fixture.finish(account, [late]);

  assert.equal(released, 1);
  assert.deepEqual([again?.id, again?.attempt, others], [dead.id, 1, []]);
  assert.notEqual(again?.attemptId, dead.attemptId);
  assert.deepEqual(recorded.settledIds, []);
  assert.equal(await releaseLeasesOf(fixture.db, 'node_a/'), 2);
  assert.deepEqual((await claim('node_b/1')).length + (await claim('node_b/1')).length, 2);
  assert.notEqual(alive.id, dead.id);
});

test('a delivery whose lease has ended is claimed again with the same attempt number and another id, and the late result is rejected', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account();
  const webhook = await fixture.webhook(account);
  await fixture.emit(account);

  const [first] = await fixture.claim(account, { limit: 1 });
  const [second] = await fixture.claim(account, { limit: 1, now: new Date(Date.now() + 21_000) });
  const late = await fixture.finish(account, [attemptOf(first!, { succeeded: false })]);
  const inTime = await fixture.finish(account, [attemptOf(second!)]);

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
  const [claimed] = await fixture.claim(account, { limit: 1 });

  const stale = await handBackDeliveries(fixture.db, { shard, claims: [{ ...claimed!, attemptId: 'dlv_other' }] });
  const handed = await handBackDeliveries(fixture.db, { shard, claims: [claimed!] });
  const [again] = await fixture.claim(account, { limit: 1 });

  assert.deepEqual([stale, handed], [0, 1]);
  assert.equal(again?.attempt, 1);
});
