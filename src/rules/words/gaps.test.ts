import assert from 'node:assert/strict';
import test from 'node:test';
import { findGaps, type Said } from './gaps.ts';

type Times = [text: string, startSeconds: number, endSeconds: number];

const said = (words: Times[]): Said[] =>
  words.map(([text, startSeconds, endSeconds]) => ({ text, startSeconds, endSeconds }));

const LIMITS = { lengthSeconds: 10, minSpeechSeconds: 1.5 };

/** In 10 s of speech. */
const CASES: { what: string; words: Times[]; gaps: [start: number, end: number, from: number, to: number][] }[] = [
  { what: 'no words', words: [], gaps: [[0, 10, 0, 0]] },
  {
    what: 'words after each other',
    words: [
      ['one', 0.2, 1],
      ['communication', 1.5, 3],
      ['styles', 4.5, 5.5],
      ['internationally', 7, 9.5],
    ],
    gaps: [],
  },
  {
    what: 'a start, a middle and an end without words',
    words: [
      ['one', 2.5, 3],
      ['two', 5.5, 6],
    ],
    gaps: [
      [0, 2.5, 0, 0],
      [3, 5.5, 1, 1],
      [6, 10, 2, 2],
    ],
  },
  {
    what: 'words that are stretched over what was left out',
    words: [
      ['in', 0, 0.3],
      ['the', 0.4, 4],
      ['the', 5, 9.5],
    ],
    gaps: [[1, 10, 2, 3]],
  },
  {
    what: 'words that are pressed together',
    words: [
      ['well', 0, 0.5],
      ['and', 9, 9],
      ['so', 9, 9],
      ['forth', 9, 9.05],
    ],
    gaps: [[0.5, 10, 1, 4]],
  },
];

for (const { what, words, gaps } of CASES) {
  test(`gaps: ${what}`, () => {
    const found = findGaps(said(words), [{ startSeconds: 0, endSeconds: 10 }], LIMITS);

    assert.deepEqual(
      found.map(({ startSeconds, endSeconds, from, to }) => [startSeconds, endSeconds, from, to]),
      gaps,
    );
  });
}

test('a gap has so much detected speech', () => {
  const words = said([['one', 0, 0.5]]);
  const gapsWith = (endSeconds: number) => findGaps(words, [{ startSeconds: 2, endSeconds }], LIMITS).length;

  assert.deepEqual([gapsWith(3.4), gapsWith(3.6)], [0, 1]);
});
