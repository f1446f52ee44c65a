import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTestDatabase, type TestDatabase } from '../../../test/fixtures/database/test-database.ts';
import { runtimeOn } from '../../../test/fixtures/runtime.ts';
import { until } from '../../../test/fixtures/until.ts';
import { Ownership } from './ownership.ts';
import { endDeliverers } from './ownership-store.ts';

/** A deliverer without deliveries. `stalledMs` is added to its clock; what is in `busy` is not recorded yet. */
function openDeliverer(db: TestDatabase, holder: string) {
  const deliverer = {
    stalledMs: 0,
    busy: new Set<number>(),
    closed: [] as number[],
    beforeBeat: async () => {},
    onBeat: () => {},
  };
  const rows: TestDatabase['rows'] = async (statement) => {
    if (statement.name === 'renew-deliverer-lease') await deliverer.beforeBeat();
    const answer = await db.rows(statement);
    if (statement.name === 'renew-deliverer-lease') deliverer.onBeat();
    return answer as never;
  };
  const ownership = new Ownership({
    ...runtimeOn({ ...db, rows }),
    holder,
    monotonicMs: () => performance.now() + deliverer.stalledMs,
    unrecorded: (shard) => (deliverer.busy.has(shard) ? 1 : 0),
    onTaken: () => undefined,
    onClosed: (shards) => deliverer.closed.push(...shards),
    onTime: () => undefined,
  });
  return Object.assign(deliverer, {
    ownership,
    has: (count: number) =>
      until(`${count} shards of ${holder}`, async () => ownership.openShards().length === count || null),
  });
}

async function openEnvironment() {
  const db = await openTestDatabase();
  const running: Ownership[] = [];
  return {
    db,
    async start(holder: string) {
      const deliverer = openDeliverer(db, holder);
      await deliverer.ownership.start();
      running.push(deliverer.ownership);
      return deliverer;
    },
    owners: () =>
      db.rows<{ owner: string | null; number: number }>({
        text: 'select owner, count(*) as number from delivery_shards group by owner order by owner',
      }),
    epochOf: async (shard: number) => {
      const text = 'select epoch from delivery_shards where shard = $1';
      return (await db.rows<{ epoch: number }>({ text, values: [shard] }))[0]!.epoch;
    },
    async [Symbol.asyncDispose]() {
      for (const ownership of running) await ownership.leave();
      await db[Symbol.asyncDispose]();
    },
  };
}

test('deliverers share the shards, and share them anew when one joins or leaves', async () => {
  await using environment = await openEnvironment();

  const first = await environment.start('node/a');
  await first.has(64);
  const [second, third] = [await environment.start('node/b'), await environment.start('node/c')];
  await Promise.all([first.has(22), second.has(21), third.has(21)]);
  const ofThree = await environment.owners();
  await second.ownership.leave();
  await Promise.all([first.has(32), third.has(32)]);

  assert.deepEqual(
    ofThree.map(({ number }) => number),
    [22, 21, 21],
  );
  const all = [...first.ownership.openShards(), ...third.ownership.openShards()];
  assert.equal(new Set(all).size, 64);
});

test('a shard changes hands only when nothing of it is in flight, and no attempt starts in it meanwhile', async () => {
  await using environment = await openEnvironment();
  const first = await environment.start('node/a');
  await first.has(64);
  first.busy = new Set(first.ownership.openShards());

  const second = await environment.start('node/b');
  await first.has(32);
  const whileBusy = await environment.owners();
  const drained = first.closed[0]!;
  first.busy.delete(drained);
  first.ownership.recorded(drained);
  await second.has(1);

  assert.deepEqual(whileBusy, [{ owner: 'node/a', number: 64 }]);
  assert.deepEqual(second.ownership.openShards(), [drained]);
  assert.equal(first.ownership.epochOf(drained), null);
  assert.equal(second.ownership.epochOf(drained), await environment.epochOf(drained));
});

test('shards of a process that ended are taken at once when its parent reports it, under new epochs', async () => {
  await using environment = await openEnvironment();
  const dead = await environment.start('node/a');
  await dead.has(64);
  const epoch = await environment.epochOf(5);
  dead.ownership.close();

  await endDeliverers(environment.db, 'node/a');
  const next = await environment.start('node/b');
  await next.has(64);

  assert.ok((await environment.epochOf(5)) > epoch);
});

test('shards of a deliverer whose lease ended are taken by another; when it wakes it owns nothing, and joins anew', async () => {
  await using environment = await openEnvironment();
  const frozen = await environment.start('node/a');
  await frozen.has(64);
  const epoch = frozen.ownership.epochOf(5)!;
  // Its heartbeats renew nothing: the row is another one's.
  await environment.db.run({ text: `update deliverers set id = 'node/frozen', ends_at = now() - interval '1 s'` });
  await environment.db.run({ text: `update delivery_shards set owner = 'node/frozen'` });

  const other = await environment.start('other/b');
  await until('both to share', async () => {
    const owners = await environment.owners();
    return owners.length === 2 && owners.every(({ number }) => number === 32);
  });
  await Promise.all([frozen.has(32), other.has(32)]);

  assert.deepEqual(
    (await environment.owners()).map(({ owner }) => owner),
    ['node/a.1', 'other/b'],
  );
  assert.ok(frozen.closed.includes(5));
  assert.ok((await environment.epochOf(5)) > epoch);
});

test('a process that asks for a heartbeat knows at once that a shard was lost', async () => {
  await using environment = await openEnvironment();
  const deliverer = await environment.start('node/a');
  await deliverer.has(64);
  const epoch = deliverer.ownership.epochOf(5)!;
  await environment.db.run({ text: 'update delivery_shards set owner = null, epoch = epoch + 1 where shard = 5' });

  await deliverer.ownership.renewed();

  assert.ok(deliverer.closed.includes(5));
  assert.notEqual(deliverer.ownership.epochOf(5), epoch);
});

test('a process trusts its lease for 8 s from before its last heartbeat', async () => {
  await using environment = await openEnvironment();
  const deliverer = await environment.start('node/a');
  await deliverer.has(64);
  const before = deliverer.ownership.isTrusted();

  deliverer.stalledMs = 8_000;
  const stalled = deliverer.ownership.isTrusted();
  await until('a heartbeat', async () => deliverer.ownership.isTrusted() || null);

  assert.deepEqual([before, stalled], [true, false]);
});

test('the answer to a heartbeat that took 8 s gives no trust', async () => {
  await using environment = await openEnvironment();
  const deliverer = await environment.start('node/a');
  await deliverer.has(64);
  let beats = 0;
  deliverer.onBeat = () => {
    deliverer.stalledMs += 8_000;
    beats += 1;
  };

  // The answer to the first one has been processed when the second one is sent.
  await until('two slow heartbeats', async () => beats === 2);

  assert.equal(deliverer.ownership.isTrusted(), false);
});

test('of two other deliverers, only the one whose lease has ended loses its shards', async () => {
  await using environment = await openEnvironment();
  const [first, second] = [await environment.start('node/a'), await environment.start('node/b')];
  await Promise.all([first.has(32), second.has(32)]);
  const closed = second.closed.length;
  await environment.db.run({
    text: `insert into deliverers (id, ends_at) values ('node/gone', now() - interval '1 s')`,
  });

  await until('the other to be ended', async () => {
    const rows = await environment.db.rows<{ id: string }>({ text: 'select id from deliverers order by id' });
    return rows.every(({ id }) => id !== 'node/gone') && rows;
  });

  const deliverers = await environment.db.rows<{ id: string }>({ text: 'select id from deliverers order by id' });
  assert.deepEqual(
    deliverers.map(({ id }) => id),
    ['node/a', 'node/b'],
  );
  assert.equal(second.closed.length, closed);
});

test('an owner keeps its shards when the database was away for longer than the lease, and nobody took them', async () => {
  await using environment = await openEnvironment();
  const deliverer = await environment.start('node/a');
  await deliverer.has(64);
  await environment.db.run({ text: `update deliverers set ends_at = now() - interval '1 h'` });

  await until('the lease to be renewed', async () => {
    const rows = await environment.db.rows({ text: 'select id from deliverers where ends_at > now()' });
    return rows.length === 1;
  });

  assert.equal(deliverer.ownership.openShards().length, 64);
  assert.deepEqual(deliverer.closed, []);
});

test('after the database was away, others are ended only when each could renew its lease', async () => {
  await using environment = await openEnvironment();
  const [first, second] = [await environment.start('node/a'), await environment.start('node/b')];
  await Promise.all([first.has(32), second.has(32)]);
  const closed = second.closed.length;
  const reached = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  let failures = 1;
  first.beforeBeat = async () => {
    if (failures-- > 0) throw Object.assign(new Error('away'), { code: 'ECONNREFUSED' });
  };
  second.beforeBeat = async () => {
    reached.resolve();
    await release.promise;
  };
  second.ownership.renewed();
  await reached.promise;
  await first.ownership.renewed();
  await environment.db.run({ text: `update deliverers set ends_at = now() - interval '1 h' where id = 'node/b'` });

  await first.ownership.renewed();
  const whileAway = await environment.owners();
  release.resolve();
  await second.ownership.renewed();

  assert.deepEqual(
    whileAway.map(({ owner, number }) => [owner, number]),
    [
      ['node/a', 32],
      ['node/b', 32],
    ],
  );
  assert.equal(second.ownership.openShards().length, 32);
  assert.equal(second.closed.length, closed);
});
