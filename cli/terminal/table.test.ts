import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alignColumns } from './table.ts';

test('addresses that begin alike are cut in the middle, so that they differ in a narrow table', () => {
  const urls = ['https://hooks.example.com/verbatim/production', 'https://hooks.example.com/verbatim/staging'];

  const rows = alignColumns(
    urls.map((url) => ['wh_1', url]),
    30,
  );

  assert.deepEqual(
    rows.map((row) => row.join('')),
    ['wh_1  https://hook…/production', 'wh_1  https://hook…tim/staging'],
  );
});

test('texts that would look the same are not cut', () => {
  const urls = ['https://a.example.com/x/one/hooks/verbatim', 'https://a.example.com/x/two/hooks/verbatim'];

  const rows = alignColumns(
    urls.map((url) => ['wh_1', url]),
    30,
  );

  assert.deepEqual(
    rows.map((row) => row.at(-1)),
    urls,
  );
});

test('what fits is not cut', () => {
  assert.deepEqual(alignColumns([['a', 'https://x/']], 13), [['a', '  ', 'https://x/']]);
});
