import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BOUNDS, brokenBounds } from './bounds.ts';

test('the bounds are in order', () => {
  assert.deepEqual(brokenBounds(BOUNDS), []);
});

for (const { title, change, why } of [
  { title: 'a claim that is valid as long as a statement runs', change: { claimValidMs: 3_500 }, why: /run.? late/ },
  {
    title: 'a lease as long as a stall of the database',
    change: { leaseMs: 10_000 },
    why: /while the database stalls/,
  },
  {
    title: 'an end that is written later than half of what a stream looks back',
    change: { endWithinMs: 5_001 },
    why: /a stream/,
  },
  { title: 'attempts that start after the lease', change: { shardTrustMs: 10_000 }, why: /take the shard/ },
  { title: 'a stop of the roles that leaves the database no time', change: { rolesStopMs: 9_000 }, why: /SIGTERM/ },
]) {
  test(`${title}: refused, with the reason`, () => {
    const broken = brokenBounds({ ...BOUNDS, ...change });

    assert.equal(broken.length, 1);
    assert.match(broken[0]!, why);
  });
}
