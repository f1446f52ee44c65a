import assert from 'node:assert/strict';
import test from 'node:test';
import { toSrt, toVtt } from '../../../../src/rules/jobs/transcript-text.ts';
import { cuesAt, readCaptions, readingSpeed } from './read-captions.ts';

const SEGMENTS = [
  { startSeconds: 0, endSeconds: 1.5, text: 'Is 1 < 2 & 3 > 2?', words: [], name: 'Ann <b> & Co' },
  { startSeconds: 3661.25, endSeconds: 3663, text: '<i>no tag</i> --> here', words: [], name: null },
];

test('what the service writes is read back', () => {
  const vtt = readCaptions(toVtt(SEGMENTS), 'vtt');
  const srt = readCaptions(toSrt(SEGMENTS.map((segment) => ({ ...segment, name: null }))), 'srt');

  assert.deepEqual(vtt, [
    { start: 0, end: 1.5, lines: ['Is 1 < 2 & 3 > 2?'], speaker: 'Ann <b> & Co' },
    { start: 3661.25, end: 3663, lines: ['<i>no tag</i> --> here'], speaker: null },
  ]);
  assert.deepEqual([srt[0]!.lines, srt[1]!.start], [['Is 1 < 2 & 3 > 2?'], 3661.25]);
  assert.equal(srt[1]!.lines.length, 1);
});

test('captions of two lines, with settings and identifiers, are read, and notes are not', () => {
  const file =
    'WEBVTT\n\nNOTE 00:00:01.000\n\nfirst\n00:01.000 --> 00:02.500 align:start\none\ntwo\n\n\n00:03.000 --> 00:04.000\nthree';

  assert.deepEqual(
    readCaptions(file, 'vtt').map(({ start, end, lines }) => [start, end, ...lines]),
    [
      [1, 2.5, 'one', 'two'],
      [3, 4, 'three'],
    ],
  );
  assert.deepEqual(readCaptions('', 'srt'), []);
});

test('at a time stand the captions that have begun and not ended, of all channels', () => {
  const cue = (start: number, end: number) => ({ start, end, lines: [`${start}`], speaker: null });
  const cues = [cue(0, 10), cue(1, 2), cue(3, 4), cue(4, 5)];
  const at = (seconds: number) => cuesAt(cues, seconds).map(({ lines }) => lines[0]);

  assert.deepEqual([at(0.5), at(1), at(2), at(4), at(11)], [['0'], ['0', '1'], ['0'], ['0', '4'], []]);
});

test('the reading speed counts the characters of all lines', () => {
  assert.equal(readingSpeed({ start: 1, end: 3, lines: ['hello', 'you'], speaker: null }), 4.5);
  assert.equal(readingSpeed({ start: 1, end: 1, lines: ['a'], speaker: null }), Number.POSITIVE_INFINITY);
});
