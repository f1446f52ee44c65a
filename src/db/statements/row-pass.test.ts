import assert from 'node:assert/strict';
import test from 'node:test';
import { deleteInBatches, SWEEP_BATCH } from './batched-delete.ts';
import { PassCursor, RowPass } from './row-pass.ts';

const failing = (rows: readonly number[], cause: Error) => {
  const done: number[] = [];
  const work = async (row: number) => {
    if (rows.includes(row)) throw cause;
    done.push(row);
  };
  return { done, work };
};

for (const atOnce of [1, 3]) {
  test(`rows that fail keep no other from its turn, ${atOnce} at once, and are reported at the end`, async () => {
    const cause = new Error('stuck');
    const [one, two] = [failing([0], cause), failing([2, 4], cause)];
    const [pass, other] = [new RowPass(), new RowPass()];

    await pass.each([0, 1, 2, 3], one.work, { atOnce });
    await other.each([0, 1, 2, 3, 4], two.work, { atOnce });

    assert.deepEqual(
      [one.done, two.done],
      [
        [1, 2, 3],
        [0, 1, 3],
      ],
    );
    assert.throws(() => pass.end(), cause);
    assert.throws(() => other.end(), { name: 'AggregateError', message: '2 rows failed', errors: [cause, cause] });
  });
}

test('a database that is away ends a pass at once, and so does a signal', async () => {
  const away = failing([1], Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED' }));
  const stopped = failing([], new Error());

  await assert.rejects(new RowPass().each([0, 1, 2], away.work), /connection refused/);
  await new RowPass().each([0, 1], stopped.work, { signal: AbortSignal.abort() });

  assert.deepEqual([away.done, stopped.done], [[0], []]);
});

test('a shard whose deletion fails keeps no other from its own', async () => {
  const left = new Map([
    [3, 2 * SWEEP_BATCH],
    [60, 1],
  ]);

  const deleting = deleteInBatches(async (shard) => {
    if (shard === 2) throw new Error('stuck');
    const deleted = Math.min(SWEEP_BATCH, left.get(shard) ?? 0);
    left.set(shard, (left.get(shard) ?? 0) - deleted);
    return deleted;
  }, undefined);

  await assert.rejects(deleting, /stuck/);
  assert.deepEqual([left.get(3), left.get(60)], [0, 0]);
});

test('a pass begins behind the page of the pass before, and after the last page at the start again', async () => {
  const rows = [1, 2, 3];
  const cursor = new PassCursor<number>(2);
  const next = () => cursor.next(async ({ after, limit }) => rows.filter((row) => row > (after ?? 0)).slice(0, limit));

  assert.deepEqual([await next(), await next(), await next()], [[1, 2], [3], [1, 2]]);
});
