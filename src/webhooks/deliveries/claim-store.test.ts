import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attemptOf, openDeliveryFixture } from '../../../test/fixtures/webhooks/delivery.ts';
import { updateWebhook } from '../endpoints/store.ts';
import { lockClaims, shardsWithDueDeliveries } from './claim-store.ts';

const MINUTE_MS = 60_000;

function later(ms: number): Date {
  return new Date(Date.now() + ms);
}

test('a claim has everything an attempt needs, and the delivery cannot be claimed again meanwhile', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account();
  const webhook = await fixture.webhook(account);
  const eventId = await fixture.emit(account);

  const [delivery, ...others] = await fixture.claim(account);
  const again = await fixture.claim(account);

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
  const claim = () => fixture.claim(account, { limit: 15 });

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
  const claim = () => fixture.claim(account, { limit: 1, onLocked: () => lockedCount++ });

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
  const claim = () => fixture.claim(account, { limit: 100 });

  const claimed = (await Promise.all([claim(), claim(), claim()])).flat();
  await fixture.finish(
    account,
    claimed.slice(0, 3).map((one) => attemptOf(one)),
  );
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

  const claimed = await fixture.claim(account, { limit: 4 });

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
  const claim = () => fixture.claim(account, { limit: 20 });
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

  const claimed = await fixture.claim(account, { healthyOnly: true });

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
  const claim = (limit: number) => fixture.claim(account, { limit });
  await fixture.emit(account);
  const fresh = await claim(2);
  const answered = fresh.filter(({ webhookId }) => webhookId === answering.id).map((delivery) => attemptOf(delivery));

  const { streaks } = await fixture.finish(account, answered);
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
  const claimAt = (now: Date) => fixture.claim(account, { now });

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
