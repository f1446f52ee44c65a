import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { toSrt, toVtt } from '../jobs/transcript-text.ts';
import type { CaptionSegment } from './caption-words.ts';
import { CAPTION_DEFAULTS, type CaptionOptions, type Cue, shapeCaptions } from './captions.ts';

/** A segment whose words follow each other, each `seconds` long. */
function spoken(text: string, startSeconds: number, seconds = 0.3): CaptionSegment {
  const words = text.split(' ').map((word, i) => ({
    text: word.replace(/[^\p{L}\p{N}]/gu, ''),
    startSeconds: startSeconds + i * seconds,
    endSeconds: startSeconds + (i + 1) * seconds,
  }));
  return { text, startSeconds, endSeconds: startSeconds + words.length * seconds, words };
}

const KENNEDY = spoken(
  'And so, my fellow Americans, ask not what your country can do for you. Ask what you can do for your country.',
  1,
);

test('captions end at sentences, lines at clauses; the times are those of the words', () => {
  assert.deepEqual(shapeCaptions([KENNEDY], CAPTION_DEFAULTS), [
    {
      startMs: 1000,
      endMs: 5117,
      lines: ['And so, my fellow Americans,', 'ask not what your country can do for you.'],
    },
    { startMs: 5200, endMs: 8100, lines: ['Ask what you can do for your country.'] },
  ]);
});

test('channels that speak at once are shaped each on its own, and their captions are in the order of their starts', () => {
  const [left, right] = [spoken('one two three.', 1), spoken('four five six.', 1.2)];
  const mixed = [
    { ...left, channel: 0, name: 'L' },
    { ...right, channel: 1, name: 'R' },
    { ...spoken('seven', 2.3), channel: 0, name: 'L' },
    { ...spoken('eight', 2.7), channel: 0, name: 'L' },
  ];

  const cues = shapeCaptions(mixed, CAPTION_DEFAULTS);

  assert.deepEqual(
    cues.map(({ lines, name }) => [name, ...lines]),
    [
      ['L', 'one two three.'],
      ['R', 'four five six.'],
      ['L', 'seven eight'],
    ],
  );
  assert.ok(cues[0]!.endMs > cues[1]!.startMs, 'the captions overlap as the speech does');
  const srt = toSrt(mixed, CAPTION_DEFAULTS).split('\n');
  assert.deepEqual(
    srt.filter((line) => /[a-z]/.test(line)),
    ['L: one two three.', 'R: four five six.', 'L: seven eight'],
  );
});

test('shaped captions are written as SRT and WebVTT', () => {
  const segments = [spoken('a <b> --> c', 0)];

  assert.equal(toSrt(segments, CAPTION_DEFAULTS), '1\n00:00:00,000 --> 00:00:01,700\na <b> -- > c\n');
  assert.equal(toVtt(segments, CAPTION_DEFAULTS), 'WEBVTT\n\n00:00:00.000 --> 00:00:01.700\na &lt;b&gt; --&gt; c\n');
});

test('a caption ends before a long pause, and stays half a second after its last word', () => {
  const cues = shapeCaptions([spoken('Well then', 0), spoken('we go', 9)], CAPTION_DEFAULTS);

  assert.deepEqual(cues, [
    { startMs: 0, endMs: 1100, lines: ['Well then'] },
    { startMs: 9000, endMs: 10_100, lines: ['we go'] },
  ]);
});

test('without word times, the time of a segment is shared by width', () => {
  const segment = { text: 'one two three four five six seven', startSeconds: 0, endSeconds: 10 };

  const cues = shapeCaptions([segment], { ...CAPTION_DEFAULTS, maxLineLength: 10, maxLines: 1 });

  assert.deepEqual(
    cues.map(({ lines }) => lines[0]),
    ['one two', 'three four', 'five six', 'seven'],
  );
  assert.deepEqual(
    cues.map(({ startMs }) => startMs),
    [0, 2353, 5588, 8235],
  );
});

test('text without spaces is divided at words, and wide characters take two columns', () => {
  const segment = { text: '今日は天気がいいですね。散歩に行きましょう。', startSeconds: 0, endSeconds: 6 };

  const cues = shapeCaptions([segment], { ...CAPTION_DEFAULTS, maxLineLength: 14, maxLines: 2 });

  assert.equal(cues.map(({ lines }) => lines.join('')).join(''), segment.text);
  for (const { lines } of cues) for (const line of lines) assert.ok(line.length <= 7, line);
  assert.match(cues[0]!.lines.join(''), /。$/);
});

test('words with other letters than the text do not change it', () => {
  const words = [{ text: 'twenty', startSeconds: 1, endSeconds: 2 }];

  const [cue] = shapeCaptions([{ text: '20 cats', startSeconds: 0, endSeconds: 2, words }], CAPTION_DEFAULTS);

  assert.deepEqual(cue, { startMs: 0, endMs: 2500, lines: ['20 cats'] });
});

test('silence has no captions', () => {
  assert.deepEqual(shapeCaptions([{ text: ' \n ', startSeconds: 0, endSeconds: 3 }], CAPTION_DEFAULTS), []);
  assert.deepEqual(shapeCaptions([], CAPTION_DEFAULTS), []);
});

test('whatever the transcript and the limits: every word once, in order, within the limits (seed 41)', () => {
  const random = randomFrom(41);
  const vocabulary = [
    'a',
    'of',
    'und,',
    'sentence.',
    '–',
    'Donaudampfschifffahrtsgesellschaft',
    '天気',
    'é',
    '🙂',
    '(yes)',
    '今日は。',
  ];
  for (let round = 0; round < 1_500; round++) {
    const segments: CaptionSegment[] = [];
    let at = 0;
    for (let i = random.integer(6); i > 0; i--) {
      at += random.pick([0, 0.05, 0.4, 5]);
      const text = Array.from({ length: random.integer(25) }, () => random.pick(vocabulary)).join(
        random.pick([' ', '\n', '  ']),
      );
      const made = spoken(text, at, random.pick([0, 0.01, 0.3, 2, 12]));
      segments.push(random.next() < 0.5 ? made : { ...made, words: [] });
      // Engines give segments that overlap now and then.
      at = made.endSeconds - (random.next() < 0.1 ? 0.2 : 0);
    }
    const options: CaptionOptions = {
      maxLineLength: 10 + random.integer(40),
      maxLines: 1 + random.integer(4),
      minDurationMs: random.integer(5_000),
      maxDurationMs: 1_000 + random.integer(29_000),
      maxCharsPerSecond: 5 + random.integer(35),
      minGapMs: random.integer(1_000),
    };

    assertWithinLimits(shapeCaptions(segments, options), segments, options, `round ${round}`);
  }
});

test('every caption is shown for a time, also where the gap is longer than the time until the next one', () => {
  const segments = [spoken('The quick brown fox. It jumped away!', 0, 0.43)];
  const options = { ...CAPTION_DEFAULTS, maxLineLength: 10, maxLines: 1, minGapMs: 1_000 };

  const cues = shapeCaptions(segments, options);

  assert.deepEqual(
    cues.map(({ startMs, endMs }) => [startMs, endMs]),
    [
      [0, 200],
      [860, 1060],
      [1720, 1920],
      [2580, 3510],
    ],
  );
});

test('a caption is shown for half of a very short time until the next one', () => {
  const options = { ...CAPTION_DEFAULTS, maxLineLength: 10, maxLines: 1 };

  const cues = shapeCaptions([spoken('characters everywhere', 1, 0.06)], options);

  assert.deepEqual(cues[0], { startMs: 1000, endMs: 1030, lines: ['characters'] });
});

test('four hours of speech are shaped in linear time', () => {
  const segments = Array.from({ length: 4_000 }, (_, i) => spoken(KENNEDY.text, i * 3.6, 0.15));

  const cues = shapeCaptions(segments, { ...CAPTION_DEFAULTS, maxLineLength: 120, maxLines: 4, maxDurationMs: 30_000 });

  assert.ok(cues.length > 500 && cues.length < 8_000, `${cues.length} captions`);
});

function assertWithinLimits(cues: Cue[], segments: CaptionSegment[], options: CaptionOptions, round: string): void {
  const shown = cues.flatMap(({ lines }) => lines).join('');
  assert.equal(shown.replace(/\s/g, ''), segments.map(({ text }) => text.replace(/\s/g, '')).join(''), round);
  for (const [i, { startMs, endMs, lines }] of cues.entries()) {
    assert.ok(Number.isInteger(startMs) && Number.isInteger(endMs) && endMs >= startMs, round);
    const untilNextMs = (cues[i + 1]?.startMs ?? Number.POSITIVE_INFINITY) - startMs;
    assert.ok(endMs > startMs || untilNextMs < 2, `${round}: a caption is never shown`);
    assert.ok(endMs - startMs <= options.maxDurationMs, round);
    assert.ok(startMs >= (cues[i - 1]?.endMs ?? 0), `${round}: captions overlap`);
    for (const line of lines) {
      const isOneWord = !/\s/.test(line);
      assert.ok(line !== '' && (isOneWord || [...line].length <= options.maxLineLength), `${round}: ${line}`);
    }
    const hasLongWord = lines.some((line) => !/\s/.test(line) && line.length > options.maxLineLength);
    assert.ok(hasLongWord || lines.length <= options.maxLines, `${round}: ${lines.length} lines`);
  }
}

test('a caption has words of one speaker; SRT shows the name where the speaker changes, WebVTT as a voice', () => {
  const segments = [
    { ...spoken('Where were you', 0), name: 'A' },
    { ...spoken('At home', 0.9), name: 'A' },
    { ...spoken('No <i>you</i>', 1.5), name: 'B & C' },
    spoken('Noise', 2.4),
  ];

  const unshaped = toVtt(segments)
    .split('\n')
    .filter((line) => /[a-z;]$/i.test(line));
  const shapedSrt = toSrt(segments, CAPTION_DEFAULTS)
    .split('\n')
    .filter((line) => /[a-z>]$/i.test(line));

  assert.deepEqual(unshaped.slice(1), [
    '<v A>Where were you',
    '<v A>At home',
    '<v B &amp; C>No &lt;i&gt;you&lt;/i&gt;',
    'Noise',
  ]);
  assert.deepEqual(shapedSrt, ['A: Where were you At home', 'B & C: No <i>you</i>', 'Noise']);
  assert.deepEqual(
    toSrt(segments)
      .split('\n')
      .filter((line) => /[a-z>]$/i.test(line)),
    ['A: Where were you', 'At home', 'B & C: No <i>you</i>', 'Noise'],
  );
});

test('lines with names keep their length', () => {
  const segments = [{ ...spoken('one two three four five six', 0), name: 'Channel 1' }];

  const cues = shapeCaptions(segments, { ...CAPTION_DEFAULTS, maxLineLength: 20 }, { hasPrefixes: true });

  assert.deepEqual(
    cues.flatMap(({ lines }) => lines),
    ['Channel 1: one two', 'three four five six'],
  );
});
