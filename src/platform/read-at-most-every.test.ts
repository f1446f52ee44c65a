import assert from 'node:assert/strict';
import test from 'node:test';
import { readOnce } from './read-at-most-every.ts';

test('a value is read once, and again only after a read that failed', async () => {
  let reads = 0;
  const read = readOnce(async () => {
    reads += 1;
    if (reads === 1) throw new Error('the file is away');
    return reads;
  });

  const both = await Promise.allSettled([read(), read()]);

  assert.deepEqual(
    both.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  assert.deepEqual([await read(), await read()], [2, 2]);
});
