import assert from 'node:assert/strict';
import test from 'node:test';
import { readByteRange } from './byte-range.ts';

const CASES: [string | null, ReturnType<typeof readByteRange>][] = [
  [null, 'all'],
  ['', 'all'],
  ['bytes=0-', { first: 0, last: 99 }],
  ['bytes=0-0', { first: 0, last: 0 }],
  ['bytes=10-19', { first: 10, last: 19 }],
  ['bytes= 10-19', { first: 10, last: 19 }],
  ['bytes=90-1000', { first: 90, last: 99 }],
  ['bytes=99-', { first: 99, last: 99 }],
  ['bytes=100-', 'none'],
  ['bytes=100-200', 'none'],
  ['bytes=-1', { first: 99, last: 99 }],
  ['bytes=-1000', { first: 0, last: 99 }],
  ['bytes=-0', 'none'],
  ['bytes=20-10', 'all'],
  ['bytes=0-1,3-4', 'all'],
  ['bytes=-', 'all'],
  ['bytes=a-b', 'all'],
  ['bytes=1e3-', 'all'],
  ['lines=0-1', 'all'],
  ['bytes=99999999999999999999-', 'all'],
];

for (const [header, range] of CASES) {
  test(`Range ${header} of 100 bytes is ${JSON.stringify(range)}`, () => {
    assert.deepEqual(readByteRange(header, 100), range);
  });
}
