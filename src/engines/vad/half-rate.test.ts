import assert from 'node:assert/strict';
import test from 'node:test';
import { halveRate } from './half-rate.ts';

test('half the rate has the mean of each two samples', () => {
  assert.deepEqual([...halveRate(Float32Array.of(1, 3, -2, 2, 7))], [2, 0]);
});
