import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomFrom } from '../../test/fixtures/random.ts';
import { newId } from './ids.ts';
import { SHARD_COUNT, shardOf } from './shard.ts';

test('shards never change: rows lie in them', () => {
  assert.equal(SHARD_COUNT, 64);
  assert.equal(shardOf(''), 5);
  assert.equal(shardOf('acct_00000000000000000000000000'), 39);
  assert.equal(shardOf('acct_01k9zzzzzz0123456789abcdef'), 52);
});

test('accounts spread evenly over the shards', () => {
  const random = randomFrom(64);
  const counts = new Array<number>(SHARD_COUNT).fill(0);
  for (let i = 0; i < 6_400; i++) {
    const id = newId(
      'acct',
      1_790_000_000_000 + i,
      Uint8Array.from({ length: 10 }, () => random.integer(256)),
    );
    counts[shardOf(id)]! += 1;
  }

  assert.ok(Math.min(...counts) > 50, `the emptiest shard has ${Math.min(...counts)} of about 100`);
  assert.ok(Math.max(...counts) < 150, `the fullest shard has ${Math.max(...counts)} of about 100`);
});
