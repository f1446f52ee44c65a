import assert from 'node:assert/strict';
import test from 'node:test';
import { randomFrom } from '../../test/fixtures/random.ts';
import { markSeen, mergeByTime, type Row, Seen, type Source, unseenRows } from './source.ts';

const rowAt = (atMs: number, id: string): Row => ({ at: new Date(atMs).toISOString(), id, atMs });

/** A source of these rows, which counts the pages that are read. */
function sourceOf(rows: Row[]) {
  const state = { pages: 0 };
  const source: Source<Row> = {
    name: 'rows',
    async page(after, limit) {
      state.pages += 1;
      const isAfter = (row: Row) => row.at > after.at || (row.at === after.at && row.id > after.id);
      return rows.filter(isAfter).slice(0, limit);
    },
    keyOf: ({ id }) => id,
    async *frames(found) {
      for (const row of found) yield { row, frame: { event: 'row', id: row.id, data: null } };
    },
  };
  return { source, state };
}

async function idsOf(list: AsyncIterable<{ row: Row }>): Promise<string[]> {
  return (await Array.fromAsync(list)).map(({ row }) => row.id);
}

test('unseen rows are read page after page, in order, only as they are wanted', async () => {
  const rows = Array.from({ length: 1_200 }, (_, i) => rowAt(1_000 + Math.floor(i / 3), String(i).padStart(5, '0')));
  const { source, state } = sourceOf(rows);
  const seen = new Seen();
  seen.add('00003', 1_001);

  const list = unseenRows(source, 1_001, seen);
  const first = (await list.next()).value as { row: Row };
  const pagesAtFirst = state.pages;
  const rest = await idsOf(list);

  assert.deepEqual([first.row.id, pagesAtFirst, state.pages], ['00004', 1, 3]);
  assert.deepEqual(
    rest,
    rows.slice(5).map(({ id }) => id),
  );
});

test('rows that are marked are left out, until they are forgotten', async () => {
  const { source } = sourceOf([rowAt(1, 'a'), rowAt(2, 'b'), rowAt(3, 'c')]);
  const seen = new Seen();
  await markSeen(source, 2, seen);

  const before = await idsOf(unseenRows(source, 0, seen));
  seen.forgetBefore(3);
  const after = await idsOf(unseenRows(source, 0, seen));

  assert.deepEqual([before, after], [['a'], ['a', 'b']]);
});

test('lists are merged in the order of time, whatever their lengths', async () => {
  const SEED = 3;
  const random = randomFrom(SEED);
  for (let round = 0; round < 50; round++) {
    const lists = Array.from({ length: 3 }, (_, list) => {
      const times = Array.from({ length: random.integer(20) }, () => random.integer(1_000)).sort((a, b) => a - b);
      return times.map((atMs, i) => rowAt(atMs, `${list}-${i}`));
    });
    const generators = lists.map((rows) => unseenRows(sourceOf(rows).source, -1, new Seen()));

    const merged = (await Array.fromAsync(mergeByTime(generators))).map(({ row }) => row.atMs);

    const all = lists.flat().map(({ atMs }) => atMs);
    assert.deepEqual(
      merged,
      all.sort((a, b) => a - b),
      `seed ${SEED}, round ${round}`,
    );
  }
});
