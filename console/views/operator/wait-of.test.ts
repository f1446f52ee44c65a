import assert from 'node:assert/strict';
import test from 'node:test';
import { waitOf } from './wait-of.ts';

test('a wait is written with the unit that fits', () => {
  assert.deepEqual(
    [0.26, 9.96, 119, 120, 7_100, 9_000].map((seconds) => waitOf(seconds)),
    ['0.3 s', '10 s', '119 s', '2 min', '118 min', '2.5 h'],
  );
});
