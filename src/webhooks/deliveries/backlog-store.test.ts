import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDeliveryFixture } from '../../../test/fixtures/webhooks/delivery.ts';
import { measureDeliveryBacklog } from './backlog-store.ts';

test('the backlog has the due deliveries of all accounts, without those of webhooks with a limit per second', async () => {
  await using fixture = await openDeliveryFixture();
  const now = new Date();
  const at = (seconds: number) => new Date(now.getTime() + seconds * 1_000);
  for (const [limit, seconds] of [
    [5, -600],
    [null, -60],
    [null, -10],
    [null, 60],
  ] as const) {
    const account = await fixture.account();
    const { id } = await fixture.webhook(account);
    await fixture.db.run({ text: 'update webhooks set max_per_second = $2 where id = $1', values: [id, limit] });
    await fixture.emit(account, { now: at(seconds) });
  }

  assert.deepEqual(await measureDeliveryBacklog(fixture.db, now), { due: 2, oldestDueSeconds: 60 });
});
