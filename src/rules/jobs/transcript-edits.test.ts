import assert from 'node:assert/strict';
import test from 'node:test';
import { areTooLong, changeEdits, editSegments, unknownSegment } from './transcript-edits.ts';

const SEGMENTS = [
  { start: 0, text: 'ask not', words: [{ text: 'ask' }, { text: 'not' }] },
  { start: 1, text: 'what your', speaker: 'A' },
  { start: 2, text: 'country' },
];

test('an edited segment has its new text and no words, the others are unchanged', () => {
  assert.deepEqual(editSegments(SEGMENTS, { 0: 'Ask not', 1: '' }), [
    { start: 0, text: 'Ask not', words: [] },
    { start: 1, text: '', speaker: 'A' },
    SEGMENTS[2],
  ]);
});

test('later changes replace earlier ones; null and the original text end an edit', () => {
  const first = changeEdits(
    {},
    [
      { index: 0, text: 'a' },
      { index: 1, text: 'b' },
      { index: 0, text: 'c' },
    ],
    SEGMENTS,
  );
  const second = changeEdits(
    first,
    [
      { index: 0, text: null },
      { index: 1, text: 'what your' },
    ],
    SEGMENTS,
  );

  assert.deepEqual([first, second], [{ 0: 'c', 1: 'b' }, {}]);
});

test('segments that there are not are found', () => {
  assert.equal(unknownSegment([{ index: 2, text: 'x' }], SEGMENTS), null);
  assert.equal(
    unknownSegment(
      [
        { index: 2, text: 'x' },
        { index: 3, text: null },
      ],
      SEGMENTS,
    ),
    3,
  );
});

test('edits may have twice the characters of the transcript and 256 KiB more', () => {
  const segments = [{ text: 'x'.repeat(1000) }];
  const limit = 2 * 1000 + 256 * 1024;

  assert.deepEqual(
    [limit, limit + 1].map((chars) => areTooLong({ 0: 'y'.repeat(chars) }, segments)),
    [false, true],
  );
});
