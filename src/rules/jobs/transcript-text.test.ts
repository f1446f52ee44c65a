import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomFrom } from '../../../test/fixtures/random.ts';
import type { CaptionSegment } from '../captions/caption-words.ts';
import { CAPTION_DEFAULTS } from '../captions/captions.ts';
import { toSrt, toText, toVtt } from './transcript-text.ts';

function said(text: string, startSeconds: number, endSeconds: number): CaptionSegment {
  return { text, startSeconds, endSeconds };
}

const TWO = [said(' Hello there.', 0, 1.5), said('General  Kenobi!', 61.0004, 3725.9996)];

test('text is one line, segments joined by single spaces', () => {
  assert.equal(toText(TWO), 'Hello there. General Kenobi!');
});

test('subtitles in SubRip count from one and separate milliseconds with a comma', () => {
  assert.equal(
    toSrt(TWO),
    '1\n00:00:00,000 --> 00:00:01,500\nHello there.\n\n2\n00:01:01,000 --> 01:02:06,000\nGeneral Kenobi!\n',
  );
});

test('subtitles in WebVTT begin with their name and separate milliseconds with a point', () => {
  assert.equal(
    toVtt(TWO),
    'WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nHello there.\n\n00:01:01.000 --> 01:02:06.000\nGeneral Kenobi!\n',
  );
});

const CALL: CaptionSegment[] = [
  { ...said('Hello?', 0, 1.5), channel: 0, name: 'Channel 1' },
  { ...said('Are you there?', 2, 4), channel: 0, name: 'Channel 1' },
  { ...said('Yes,  I am.', 3, 5), channel: 1, name: 'Channel 2' },
];

test('text of several channels has a line for each segment', () => {
  assert.equal(toText(CALL), 'Hello?\nAre you there?\nYes, I am.');
  assert.equal(toText(CALL.slice(0, 2)), 'Hello? Are you there?');
});

test('captions of several channels keep the order of the segments, and may overlap', () => {
  assert.equal(
    toSrt(CALL),
    `1\n00:00:00,000 --> 00:00:01,500\nChannel 1: Hello?\n
2\n00:00:02,000 --> 00:00:04,000\nAre you there?\n
3\n00:00:03,000 --> 00:00:05,000\nChannel 2: Yes, I am.\n`,
  );
});

test('silence is empty text, empty subtitles, and a WebVTT head', () => {
  const silence = [said('', 0, 1), said(' \n ', 1, 2)];

  assert.equal(toText(silence), '');
  assert.equal(toSrt(silence), '');
  assert.equal(toVtt(silence), 'WEBVTT\n');
  assert.equal(toVtt([]), 'WEBVTT\n');
});

const HOSTILE: [text: string, srt: string, vtt: string][] = [
  ['a\n\n2\n00:00 --> x', 'a 2 00:00 -- > x', 'a 2 00:00 --&gt; x'],
  ['<b>bold</b> & so', '<b>bold</b> & so', '&lt;b&gt;bold&lt;/b&gt; &amp; so'],
  ['a\r\nb\u0000c\u2028d', 'a b c d', 'a b c d'],
  ['--->', '--- >', '---&gt;'],
  ['WEBVTT', 'WEBVTT', 'WEBVTT'],
];

for (const [text, srt, vtt] of HOSTILE) {
  test(`the text ${JSON.stringify(text)} stays one line of its own cue`, () => {
    assert.equal(toSrt([said(text, 0, 1)]).split('\n')[2], srt);
    assert.equal(toVtt([said(text, 0, 1)]).split('\n')[3], vtt);
  });
}

const TIMES: [startSeconds: number, endSeconds: number, line: string][] = [
  [0, 0, '00:00:00,000 --> 00:00:00,200'],
  [59.9994, 59.9996, '00:00:59,999 --> 00:01:00,199'],
  [3599.9999, 3600, '01:00:00,000 --> 01:00:00,200'],
  [359_999.999, 360_000, '99:59:59,999 --> 100:00:00,199'],
  [5, 4, '00:00:05,000 --> 00:00:05,200'],
  [-1, 1, '00:00:00,000 --> 00:00:01,000'],
  [Number.NaN, Number.POSITIVE_INFINITY, '00:00:00,000 --> 00:00:00,200'],
];

for (const [startSeconds, endSeconds, line] of TIMES) {
  test(`${startSeconds} to ${endSeconds} seconds read ${line}`, () => {
    assert.equal(toSrt([said('x', startSeconds, endSeconds)]).split('\n')[1], line);
  });
}

test('whatever is said, every cue is three lines and no text looks like a timing', () => {
  const random = randomFrom(3);
  const pieces = ['a', ' ', '\n', '\n\n', '-->', '-', '>', '<', '&', '\r', '\u0085', '\u2029', 'ü', '1'];
  for (let i = 0; i < 2_000; i++) {
    const text = Array.from({ length: random.integer(12) }, () => random.pick(pieces)).join('');
    const segments = [said(`x${text}`, 0, 1), said('end', 1, 2)];

    assert.match(toSrt(segments), /^1\n.{29}\n((?!-->).)+\n\n2\n.{29}\nend\n$/u);
    assert.match(toVtt(segments), /^WEBVTT\n\n.{29}\n((?!-->|<).)+\n\n.{29}\nend\n$/u);
  }
});

test('no caption ends after the audio, shaped or not', () => {
  const segments = [{ text: 'good night', startSeconds: 1, endSeconds: 2.4 }];

  assert.equal(toSrt(segments, null, 2_000), '1\n00:00:01,000 --> 00:00:02,000\ngood night\n');
  assert.equal(toVtt(segments, CAPTION_DEFAULTS, 2_000), 'WEBVTT\n\n00:00:01.000 --> 00:00:02.000\ngood night\n');
});

test('a segment of no length is a caption of 0.2 s, and those after it begin when it has ended', () => {
  const segments = [said('one', 3, 3), said('two', 3, 3), said('three', 3.1, 4), said('four', 5, 6)];

  const times = toSrt(segments)
    .split('\n')
    .filter((line) => line.includes('-->'));

  assert.deepEqual(times, [
    '00:00:03,000 --> 00:00:03,200',
    '00:00:03,200 --> 00:00:03,400',
    '00:00:03,400 --> 00:00:04,000',
    '00:00:05,000 --> 00:00:06,000',
  ]);
});

test('whatever the times, each caption of each channel has its length within the audio (seed 8)', () => {
  const random = randomFrom(8);
  for (let run = 0; run < 1_000; run++) {
    let at = 0;
    const audioMs = 1_000 + random.integer(20_000);
    const segments = Array.from({ length: 1 + random.integer(7) }, (_, i): CaptionSegment => {
      at += random.pick([0, 0, 0.1, 0.4, 3]);
      const words = ['a', 'b', 'c'].map((text) => ({ text, startSeconds: at, endSeconds: at }));
      const channel = random.integer(2);
      return { ...said(`${i} a b c`, at, at + random.pick([0, 0, 0.1, 2])), words, channel };
    });
    for (const shape of [null, { ...CAPTION_DEFAULTS, maxLineLength: 10, maxLines: 1 }]) {
      const lines = toVtt(segments, shape, audioMs).split('\n');
      const cues = lines.filter((line) => line.includes('-->')).map((line) => line.split(' --> ').map(msOf));
      const leastMs = Math.min(200, Math.floor(audioMs / cues.length));
      for (const [startMs, endMs] of cues) {
        assert.ok(startMs! >= 0 && endMs! - startMs! >= leastMs && endMs! <= audioMs, `run ${run}: ${cues}`);
      }
      assert.equal(lines.join('').replace(/[^abc]/g, '').length, 3 * segments.length);
    }
  }
});

function msOf(time: string): number {
  const [hours, minutes, seconds] = time.split(':').map(Number);
  return Math.round(1000 * (3600 * hours! + 60 * minutes! + seconds!));
}
