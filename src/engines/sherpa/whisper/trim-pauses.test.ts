import assert from 'node:assert/strict';
import { test } from 'node:test';
import { trimPauses } from './trim-pauses.ts';

const CASES: [title: string, tokens: string[], durations: number[], starts: number[]][] = [
  ['the first token begins after the silence before it', [' So', ' it', ' is'], [4, 0.2, 0.2], [3.6, 4, 4.2]],
  ['a token after a mark begins after the pause', [' So', ',', ' it', ' is'], [0.2, 0.2, 3, 0.2], [0, 0.2, 3, 3.4]],
  ['a long token inside a sentence stays as it is', [' So', ' it', ' is'], [0.2, 3, 0.2], [0, 0.2, 3.2]],
  ['tokens of one character keep their times', ['。', '客', '観'], [0.2, 0.4, 0.2], [0, 0.2, 0.6]],
  ['slow tokens count as 0.7 s', [' So', ' it', ' is'], [5, 2, 2], [3.6, 5, 7]],
];

for (const [title, tokens, durations, starts] of CASES) {
  test(title, () => {
    const timestamps = durations.map((_, at) => durations.slice(0, at).reduce((sum, one) => sum + one, 0));

    const result = trimPauses({ text: tokens.join(''), tokens, timestamps, durations });

    assert.deepEqual(result.timestamps!.map(rounded), starts);
    const ends = (all: { timestamps?: number[]; durations?: number[] }) =>
      all.timestamps!.map((start, at) => rounded(start + all.durations![at]!));
    assert.deepEqual(ends(result), ends({ timestamps, durations }));
  });
}

test('a result without times stays as it is', () => {
  assert.deepEqual(trimPauses({ text: 'a', tokens: ['a'] }), { text: 'a', tokens: ['a'] });
});

function rounded(seconds: number): number {
  return Math.round(seconds * 100) / 100;
}
