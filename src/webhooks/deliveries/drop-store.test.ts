import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDeliveryFixture } from '../../../test/fixtures/webhooks/delivery.ts';
import { shardsWithDueDeliveries } from './claim-store.ts';
import { dropAllWaiting, dropUndeliverable } from './drop-store.ts';

test('waiting deliveries of a disabled webhook are dropped and logged, those in flight are not', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account();
  const webhook = await fixture.webhook(account);
  const { shard } = account;
  for (let i = 0; i < 3; i++) await fixture.emit(account);
  await fixture.claim(account, { limit: 1 });
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
  await fixture.claim(account, { limit: 1 });
  await fixture.db.run({ text: 'delete from webhooks where id = $1', values: [gone.id] });
  await fixture.db.run({
    text: `update webhooks set active = false, disabled_reason = 'manual', disabled_at = now() where id = $1`,
    values: [webhook.id],
  });

  const now = new Date(Date.now() + 21_000);
  const claimed = await fixture.claim(account, { now });
  const dropped = await dropUndeliverable(fixture.db, { shard, now });

  assert.equal(claimed.length, 0);
  assert.equal(dropped, 2);
  assert.deepEqual(await shardsWithDueDeliveries(fixture.db, { now }), []);
});
