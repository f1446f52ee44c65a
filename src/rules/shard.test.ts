import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomFrom } from '../../test/random.ts';
import { newId } from './ids.ts';
import { LANE_COUNT, laneOf } from './shard.ts';

test('lanes never change: rows lie in them', () => {
  assert.equal(LANE_COUNT, 64);
  assert.equal(laneOf(''), 5);
  assert.equal(laneOf('acct_00000000000000000000000000'), 39);
  assert.equal(laneOf('acct_01k9zzzzzz0123456789abcdef'), 52);
});

test('accounts spread evenly over the lanes', () => {
  const random = randomFrom(64);
  const counts = new Array<number>(LANE_COUNT).fill(0);
  for (let i = 0; i < 6_400; i++) {
    const id = newId(
      'acct',
      1_790_000_000_000 + i,
      Uint8Array.from({ length: 10 }, () => random.integer(256)),
    );
    counts[laneOf(id)]! += 1;
  }

  assert.ok(Math.min(...counts) > 50, `the emptiest lane has ${Math.min(...counts)} of about 100`);
  assert.ok(Math.max(...counts) < 150, `the fullest lane has ${Math.max(...counts)} of about 100`);
});
