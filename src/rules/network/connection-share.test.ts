import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectionShare, FEWEST_CONNECTIONS, FULL_CONNECTIONS, type Part } from './connection-share.ts';

const PARTS: Part[] = ['http', 'transcriber', 'deliverer', 'janitor'];
const shares = (total: number | null) => PARTS.map((part) => connectionShare(part, total));

test('a node without a limit opens 46 connections', () => {
  assert.deepEqual(shares(null), [20, 10, 8, 3]);
  assert.equal(FULL_CONNECTIONS, 46);
  assert.deepEqual(shares(1000), shares(null));
});

test('all processes together stay within the limit, and each gets 2 or more', () => {
  for (let total = FEWEST_CONNECTIONS; total <= FULL_CONNECTIONS; total++) {
    const sizes = shares(total);

    assert.ok(sizes.reduce((sum, size) => sum + size, 5) <= total, `${total}: ${sizes}`);
    assert.ok(Math.min(...sizes) >= 2);
  }
});
