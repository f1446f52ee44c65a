import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wordLines } from './word-lines.ts';

test('each word is a line with its times, and a segment without words is one line', () => {
  const words = [
    { start: 3.24, end: 3.6, text: 'Good', confidence: 0.9 },
    { start: 59.999, end: 3600.5, text: 'morning', confidence: null },
  ];
  const segments = [
    { start: 3.24, end: 3600.5, text: 'Good morning', confidence: null, words },
    { start: 3601, end: 3602, text: 'all of you', confidence: null },
  ];

  assert.equal(
    wordLines({ segments, text: 'Good morning all of you' }),
    '0:03.24  0:03.60  Good\n1:00.00  1:00:00.50  morning\n1:00:01.00  1:00:02.00  all of you\n',
  );
  assert.equal(wordLines({ segments: null, text: null }), '\n');
});
