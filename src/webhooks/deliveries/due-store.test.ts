import assert from 'node:assert/strict';
import test from 'node:test';
import { openDeliveryFixture } from '../../../test/fixtures/webhooks/delivery.ts';
import { readBodies, readDue, readDueOfWebhook } from './due-store.ts';

async function openEnvironment() {
  const fixture = await openDeliveryFixture();
  const account = await fixture.account();
  const webhook = await fixture.webhook(account);
  for (let i = 0; i < 4; i++) await fixture.emit(account);
  const { shard } = account;
  const span = { fromMs: 0, untilMs: Date.now() + 60_000, limit: 100 };
  return Object.assign(fixture, { shard, webhookId: webhook.id, span });
}

test('reads leave out the deliveries that are known', async () => {
  await using environment = await openEnvironment();
  const { db, shard, webhookId, span } = environment;
  const ofShard = (known: string[]) => readDue(db, { ...span, shards: [shard], without: [], known });
  const ofWebhook = (known: string[]) => readDueOfWebhook(db, { ...span, shard, webhookId, known, withSettings: true });
  const all = (await ofShard([])).deliveries.map(({ id }) => id);
  const known = all.slice(1);

  const reads = [await ofShard(known), await ofWebhook(known)];
  const nothing = await ofShard(all);

  assert.equal(all.length, 4);
  for (const { deliveries } of reads) assert.deepEqual([deliveries.map(({ id }) => id)], [[all[0]]]);
  assert.deepEqual(nothing, { deliveries: [], webhooks: [], nowMs: null });
});

test('a read of a webhook brings its settings only when asked, and the longest due first', async () => {
  await using environment = await openEnvironment();
  const { db, shard, webhookId, span } = environment;
  const read = (withSettings: boolean) =>
    readDueOfWebhook(db, { ...span, limit: 3, shard, webhookId, known: [], withSettings });

  const [asked, notAsked] = [await read(true), await read(false)];

  assert.deepEqual(
    asked.webhooks.map(({ id, state }) => [id, state]),
    [[webhookId, 'active']],
  );
  assert.deepEqual(notAsked.webhooks, []);
  for (const { deliveries } of [asked, notAsked]) {
    const times = deliveries.map(({ nextAtMs }) => nextAtMs);
    assert.deepEqual(times, times.toSorted());
    assert.equal(deliveries.length, 3);
    for (const { body, eventId } of deliveries) assert.equal(JSON.parse(body!.toString()).id, eventId);
  }
});

test('a large body is read once for all deliveries of its event, and not with what is due', async () => {
  await using environment = await openEnvironment();
  const { db, shard, span } = environment;
  const account = await environment.account();
  for (let i = 0; i < 8; i++) await environment.webhook(account);
  await environment.emit(account, { text: 'x'.repeat(100_000) });
  const { deliveries } = await readDue(db, { ...span, shards: [shard, account.shard], without: [], known: [] });
  const large = deliveries.filter(({ accountId }) => accountId === account.id);
  let bytes = 0;
  const counting = Object.assign(Object.create(db) as typeof db, {
    rows: async (statement: Parameters<typeof db.rows>[0]) => {
      const rows = await db.rows<{ body: string }>(statement);
      for (const { body } of rows) bytes += body.length;
      return rows;
    },
  });

  const bodies = await readBodies(counting, large.slice(1));

  assert.deepEqual(new Set(large.map(({ body }) => body)), new Set([null]));
  assert.ok(large.every(({ bodyBytes }) => bodyBytes > 100_000));
  assert.deepEqual(
    [...bodies.keys()].sort(),
    large
      .slice(1)
      .map(({ id }) => id)
      .sort(),
  );
  assert.ok(bytes < 110_000, `${bytes} bytes were read`);
});
