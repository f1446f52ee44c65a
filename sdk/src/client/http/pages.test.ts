import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Pages } from './pages.ts';

/** A list of 1 to 5 in pages of two; `read` has the cursors of the pages that were read. */
function listOfFive() {
  const read: (string | null)[] = [];
  const pages = new Pages(async (cursor) => {
    read.push(cursor);
    const first = Number(cursor ?? 1);
    const data = [first, first + 1].filter((item) => item <= 5);
    const next = first + 2 <= 5 ? String(first + 2) : null;
    return { data, has_more: next !== null, next_cursor: next };
  });
  return { pages, read };
}

test('an awaited list is its first page, which is read once', async () => {
  const { pages, read } = listOfFive();

  assert.deepEqual(await pages, { data: [1, 2], has_more: true, next_cursor: '3' });
  assert.deepEqual((await pages).data, [1, 2]);
  assert.deepEqual(read, [null]);
});

test('iterating reads all items, each page when its turn comes', async () => {
  const { pages, read } = listOfFive();
  const items: number[] = [];

  for await (const item of pages) {
    items.push(item);
    if (item === 2) assert.deepEqual(read, [null]);
  }

  assert.deepEqual(
    [items, read],
    [
      [1, 2, 3, 4, 5],
      [null, '3', '5'],
    ],
  );
});

test('pages() reads page by page', async () => {
  const { pages } = listOfFive();

  const sizes = await Array.fromAsync(pages.pages(), ({ data }) => data.length);

  assert.deepEqual(sizes, [2, 2, 1]);
});

for (const [limit, items, reads] of [
  [0, [], 0],
  [2, [1, 2], 1],
  [3, [1, 2, 3], 2],
  [100, [1, 2, 3, 4, 5], 3],
] as const) {
  test(`toArray with a limit of ${limit} reads ${reads} pages`, async () => {
    const { pages, read } = listOfFive();

    assert.deepEqual([await pages.toArray({ limit }), read.length], [items, reads]);
  });
}

test('an error of a page reaches who waits for it', async () => {
  const pages = new Pages(() => Promise.reject(new Error('away')));

  await assert.rejects(Promise.resolve(pages), /away/);
  await assert.rejects(pages.toArray({ limit: 1 }), /away/);
});

test('a page without items is not the last one while there is a cursor', async () => {
  const answers = [
    { data: [], has_more: true, next_cursor: 'a' },
    { data: [1], has_more: false, next_cursor: null },
  ];
  const pages = new Pages<number>(async () => answers.shift()!);

  assert.deepEqual(await Array.fromAsync(pages), [1]);
});
