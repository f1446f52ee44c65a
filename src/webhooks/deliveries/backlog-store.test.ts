import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDeliveryFixture } from '../../../test/fixtures/webhooks/delivery.ts';
import { measureDeliveryBacklog } from './backlog-store.ts';

test('the age of the backlog is that of webhooks whose receivers answer', async () => {
  await using fixture = await openDeliveryFixture();
  const now = new Date();
  for (const { failures, seconds } of [
    { failures: 3, seconds: 600 },
    { failures: 0, seconds: 60 },
  ]) {
    const account = await fixture.account();
    const { id } = await fixture.webhook(account);
    await fixture.db.run({
      text: 'update webhooks set consecutive_failures = $2 where id = $1',
      values: [id, failures],
    });
    await fixture.emit(account, { now: new Date(now.getTime() - seconds * 1_000) });
  }

  assert.deepEqual(await measureDeliveryBacklog(fixture.db, now), { due: 2, oldestDueSeconds: 60 });
});

test('the backlog leaves out the due deliveries of webhooks with a limit per second and of suspended accounts', async () => {
  await using fixture = await openDeliveryFixture();
  const now = new Date();
  const at = (seconds: number) => new Date(now.getTime() + seconds * 1_000);
  for (const { limit = null, suspendedAt = null, seconds } of [
    { limit: 5, seconds: -600 },
    { suspendedAt: now, seconds: -300 },
    { seconds: -60 },
    { seconds: -10 },
    { seconds: 60 },
  ]) {
    const account = await fixture.account();
    const { id } = await fixture.webhook(account);
    const suspend = { text: 'update accounts set suspended_at = $2 where id = $1', values: [account.id, suspendedAt] };
    await fixture.db.run(suspend);
    await fixture.db.run({ text: 'update webhooks set max_per_second = $2 where id = $1', values: [id, limit] });
    await fixture.emit(account, { now: at(seconds) });
  }

  assert.deepEqual(await measureDeliveryBacklog(fixture.db, now), { due: 2, oldestDueSeconds: 60 });
});
