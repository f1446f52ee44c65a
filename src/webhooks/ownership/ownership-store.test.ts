import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTestDatabase, type TestDatabase } from '../../../test/fixtures/database/test-database.ts';
import { endDeliverers, endExpiredDeliverers, joinDeliverers, releaseShards, takeShards } from './ownership-store.ts';

/** A deliverer with the first shards. */
async function joined(db: TestDatabase, id: string, { limit = 2, leaseMs = 60_000 } = {}) {
  await joinDeliverers(db, { id, leaseMs });
  return (await takeShards(db, { id, limit })).toSorted((left, right) => left.shard - right.shard);
}

async function shardsOf(db: TestDatabase, shards: number[]) {
  return await db.rows<{ shard: number; owner: string | null; epoch: number }>({
    text: 'select shard::int, owner, epoch from delivery_shards where shard = any($1) order by shard',
    values: [shards],
  });
}

const HAND_OVERS: Record<string, (db: TestDatabase) => Promise<unknown>> = {
  'is released': (db) => releaseShards(db, { id: 'a', shards: [0, 1] }),
  'loses its owner, whose process has ended': (db) => endDeliverers(db, 'a'),
  'loses its owner, whose lease has ended': (db) => endExpiredDeliverers(db),
};

test('a shard has a new epoch when it is taken', async () => {
  await using db = await openTestDatabase();
  const before = await shardsOf(db, [0, 1]);

  const taken = await joined(db, 'a');

  assert.deepEqual(
    taken,
    before.map(({ shard, epoch }) => ({ shard, epoch: epoch + 1 })),
  );
});

for (const [what, handOver] of Object.entries(HAND_OVERS)) {
  test(`a shard has a new epoch when it ${what}: the statements of that owner change nothing more`, async () => {
    await using db = await openTestDatabase();
    const taken = await joined(db, 'a', { leaseMs: -1 });

    await handOver(db);

    assert.deepEqual(
      await shardsOf(db, [0, 1]),
      taken.map(({ shard, epoch }) => ({ shard, owner: null, epoch: epoch + 1 })),
    );
  });
}

test('nobody sets free the shards of another deliverer', async () => {
  await using db = await openTestDatabase();
  await joined(db, 'a');
  const before = await shardsOf(db, [0, 1]);

  await releaseShards(db, { id: 'b', shards: [0, 1] });
  await endDeliverers(db, 'b');
  await endExpiredDeliverers(db);

  assert.deepEqual(await shardsOf(db, [0, 1]), before);
});

test('two deliverers that take shards at once get others, and neither waits', async () => {
  await using db = await openTestDatabase();
  for (const id of ['a', 'b']) await joinDeliverers(db, { id, leaseMs: 60_000 });

  const [first, second] = await db.transaction(async (tx) => [
    await takeShards(tx, { id: 'a', limit: 2 }),
    await takeShards(db, { id: 'b', limit: 2 }),
  ]);

  assert.deepEqual(
    [first, second].map((taken) => taken!.map(({ shard }) => shard).toSorted()),
    [
      [0, 1],
      [2, 3],
    ],
  );
});

test('a deliverer that takes shards is not deleted meanwhile, and one without a row gets none', async () => {
  await using db = await openTestDatabase();
  await joined(db, 'a', { leaseMs: -1, limit: 0 });

  const blocked = await db.transaction(async (tx) => {
    await takeShards(tx, { id: 'a', limit: 2 });
    return await db.rows({ text: `select id from deliverers where id = 'a' for update skip locked` });
  });
  await endExpiredDeliverers(db);

  assert.deepEqual([blocked, await takeShards(db, { id: 'a', limit: 2 })], [[], []]);
});
