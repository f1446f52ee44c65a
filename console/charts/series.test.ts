import assert from 'node:assert/strict';
import test from 'node:test';
import { stacked } from './series.ts';

test('stacked columns stand on each other', () => {
  const series = { names: ['a', 'b', 'c'], columns: [[60], [1], [null], [4]] };

  assert.deepEqual(stacked(series).columns, [[60], [1], [1], [5]]);
});
