import assert from 'node:assert/strict';
import { test } from 'node:test';
import { metadataPairs } from './metadata-pairs.ts';

const pairsOf = (metadata: string | null) => metadataPairs(metadata).map(({ key, value }) => `${key}=${value}`);

const PAIRS: [string | null, string[]][] = [
  [null, []],
  ['null', []],
  ['[1, 2]', []],
  ['"text"', []],
  ['{}', []],
  [
    '{"order": 12345678901234567890, "rate": 1.50, "tiny": 1e2}',
    ['order=12345678901234567890', 'rate=1.50', 'tiny=1e2'],
  ],
  ['{"a": "x", "b": true, "c": false, "d": null, "e": {"f": 1}, "g": [1]}', ['a=x', 'b=true', 'c=false']],
  ['{"a": 1, "a": 2}', ['a=2']],
  ['{"__proto__": "x", "": ""}', ['__proto__=x', '=']],
  ['{"a": "x\\u0000", "b\\u0000": "x", "c": "\\ud800", "d": "é"}', ['d=é']],
];
for (const [metadata, pairs] of PAIRS) {
  test(`the metadata ${metadata} is found by ${pairs.join(', ') || 'nothing'}`, () => {
    assert.deepEqual(pairsOf(metadata), pairs);
  });
}

test('long values are left out, and only the first 20 pairs are kept', () => {
  const long = JSON.stringify({ fits: 'é'.repeat(100), long: 'é'.repeat(101), [`${'k'.repeat(201)}`]: 'x' });
  const many = JSON.stringify(Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`k${index}`, index])));

  assert.deepEqual(
    metadataPairs(long).map(({ key }) => key),
    ['fits'],
  );
  assert.equal(pairsOf(many).length, 20);
  assert.equal(pairsOf(many).at(-1), 'k19=19');
});
