import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attemptOf, openDeliveryFixture } from '../../../test/fixtures/webhooks/delivery.ts';
import { claimDueDeliveries } from './claim-store.ts';
import { finishAttempts } from './finish-store.ts';
import { releaseLeasesOf } from './lease-store.ts';

const BOUNDS = { disableFailures: 10, disableMs: 1_800_000 };

test('deliveries of a process that has ended are due again at once, with the same attempt number; its late result is rejected', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account();
  await fixture.webhook(account);
  await fixture.emit(account);
  await fixture.emit(account);
  const { shard } = account;
  const claim = (holder: string) => claimDueDeliveries(fixture.db, { shard, limit: 1, leaseMs: 20_000, holder });
  const [dead, alive] = [(await claim('node_a/1'))[0]!, (await claim('node_a/2'))[0]!];

  const released = await releaseLeasesOf(fixture.db, 'node_a/1');
  const [again, ...others] = await claim('node_a/3');
  const late = attemptOf(dead, { succeeded: false, retryAfterMs: 30_000 });
  const recorded = await finishAttempts(fixture.db, { shard, attempts: [late], ...BOUNDS });

  assert.equal(released, 1);
  assert.deepEqual([again?.id, again?.attempt, others], [dead.id, 1, []]);
  assert.notEqual(again?.attemptId, dead.attemptId);
  assert.deepEqual(recorded.settledIds, []);
  assert.equal(await releaseLeasesOf(fixture.db, 'node_a/'), 2);
  assert.deepEqual((await claim('node_b/1')).length + (await claim('node_b/1')).length, 2);
  assert.notEqual(alive.id, dead.id);
});
