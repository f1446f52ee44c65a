import assert from 'node:assert/strict';
import test from 'node:test';
import { Extent } from './extent.ts';

test('each channel is charged for its own begun milliseconds; progress is their mean', () => {
  const extent = new Extent(3, 16_000);
  const values = () => [extent.chargedMs(), extent.furthestMs(), extent.meanSeconds()];

  assert.deepEqual(values(), [0, 0, 0]);
  extent.reach(0, 16_001);
  assert.deepEqual(values(), [1_001, 1_001, 16_001 / 3 / 16_000]);
  extent.reach(2, 8_000);
  extent.reach(0, 32_000);
  assert.deepEqual(values(), [2_500, 2_000, 2.5 / 3]);
});
