import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { SHERPA_OPTIONS } from '../../../test/fixtures/audio/sherpa-options.ts';
import { STREAMING_TONE_MODEL } from '../../../test/fixtures/audio/test-audio.ts';
import { SECONDS_PER_SIGN, toneSpeech } from '../../../test/fixtures/audio/tone/speech.ts';
import { testLiveConformance } from '../../../test/fixtures/live-conformance.ts';
import { randomFrom } from '../../../test/fixtures/random.ts';
import type { Interval } from '../../rules/transcript/intervals.ts';
import { EngineError, type Pcm, SAMPLE_RATE } from '../engine.ts';
import { openSherpaLive } from '../sherpa/sherpa-live.ts';
import { judgedEngine } from './judged-engine.ts';
import type { LiveEngine, LivePartial } from './live-engine.ts';

const TEXT = 'the text of a segment is compared with its speech';

testLiveConformance('sherpa-onnx with a voice detector', async () => {
  const streaming = await openSherpaLive(STREAMING_TONE_MODEL, SHERPA_OPTIONS, 1);
  const engine = judgedEngine(streaming!, { find: async (piece) => [whole(piece)] });
  return {
    engine,
    speech: toneSpeech(TEXT),
    expected: new RegExp(`^${TEXT}$`),
    cut: { seconds: 'the text'.length * SECONDS_PER_SIGN + 0.1, expected: /^the text$/ },
    [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose](),
  };
});

const random = randomFrom(12).next;
const NOISE = Int16Array.from({ length: 8 * SAMPLE_RATE }, () => 8_000 * (random() - 0.5));
const whole = (piece: Pcm): Interval => ({ startSeconds: 0, endSeconds: piece.length / SAMPLE_RATE });

/** A streaming engine that says something for the seconds that it was given, and shows all of its words as stable. */
function openSegment({ says, find }: { says: (seconds: number) => string; find: (piece: Pcm) => Interval[] }) {
  const partials: LivePartial[] = [];
  const shown: ((partial: LivePartial) => void)[] = [];
  const given: number[] = [];
  const wordsOf = (text: string, seconds: number) =>
    text === ''
      ? []
      : text.split(' ').map((word) => ({ text: word, startSeconds: 0.1, endSeconds: seconds, confidence: 1 }));
  const engine: LiveEngine = {
    name: 'fake',
    warmUp: async () => undefined,
    capacity: () => 1,
    open: () => ({
      segment(onPartial) {
        if (onPartial) shown.push(onPartial);
        return {
          write: () => undefined,
          async end(seconds) {
            given.push(seconds);
            const text = says(seconds);
            return { text, words: wordsOf(text, seconds), confidence: 1, language: 'en' };
          },
          close: () => undefined,
        };
      },
      backlogSeconds: () => 0,
      close: () => undefined,
    }),
    [Symbol.asyncDispose]: async () => undefined,
  };
  const decoder = judgedEngine(engine, { find: async (piece) => find(piece) }).open({ language: 'en' });
  const segment = decoder.segment((partial) => partials.push(partial));
  const show = async (text: string) => {
    const words = wordsOf(text, 1);
    shown[0]!({ words, stableWords: words.length });
    await turnOfTheLoop();
  };
  return { decoder, segment, show, partials, given };
}

test('sound without speech has no text, neither while the segment is open nor at its end', async () => {
  const { segment, show, partials } = openSegment({ says: () => 'you', find: () => [] });
  segment.write(NOISE.subarray(0, 2 * SAMPLE_RATE));

  await show('you');
  const final = await segment.end(2);

  assert.deepEqual([partials, final.text, final.untranscribed], [[], '', []]);
});

test('text of an open segment is shown once speech is detected', async () => {
  let isSpoken = false;
  const { segment, show, partials } = openSegment({
    says: () => 'and so',
    find: (piece) => (isSpoken ? [whole(piece)] : []),
  });
  segment.write(NOISE.subarray(0, SAMPLE_RATE));

  await show('and');
  isSpoken = true;
  await show('and so');
  await show('and so my');

  const texts = partials.map(({ words }) => words.map(({ text }) => text).join(' '));
  assert.deepEqual(texts, ['and so', 'and so my']);
});

test('text that comes while the detector is asked is asked about too, though no more comes', async () => {
  let isSpoken = false;
  const { segment, show, partials } = openSegment({
    says: () => 'and so',
    find: (piece) => (isSpoken ? [whole(piece)] : []),
  });
  segment.write(NOISE.subarray(0, SAMPLE_RATE));

  const first = show('and');
  isSpoken = true;
  await Promise.all([first, show('and so')]);

  assert.deepEqual(
    partials.map(({ words }) => words.map(({ text }) => text).join(' ')),
    ['and so'],
  );
});

test('speech without text is decoded again in halves, and untranscribed where these have none', async () => {
  const halves = openSegment({
    says: (seconds) => (seconds > 5 ? '' : 'some words of the half'),
    find: (piece) => [whole(piece)],
  });
  const nothing = openSegment({ says: () => '', find: (piece) => [whole(piece)] });
  for (const { segment } of [halves, nothing]) segment.write(NOISE);

  const [some, none] = await Promise.all([halves.segment.end(8), nothing.segment.end(8)]);

  assert.match(some.text, /^some words of the half/);
  assert.deepEqual(some.untranscribed, []);
  assert.equal(halves.given[0], 8);
  assert.ok(halves.given.slice(1).every((seconds) => seconds < 8));
  assert.deepEqual([none.text, none.untranscribed], ['', [{ startSeconds: 0, endSeconds: 8 }]]);
});

test('a segment that lacks the words that were shown as stable is untranscribed', async () => {
  const { segment, show } = openSegment({ says: () => 'thank you very much indeed', find: (piece) => [whole(piece)] });
  segment.write(NOISE.subarray(0, 3 * SAMPLE_RATE));
  await show('ask not what');

  const final = await segment.end(3);

  assert.deepEqual(final.untranscribed, [{ startSeconds: 0, endSeconds: 3 }]);
});

test('an error of the engine is that of the segment', async () => {
  const error = new EngineError('engine_error', 'it stopped');
  const { segment } = openSegment({
    says: () => {
      throw error;
    },
    find: () => [],
  });

  await assert.rejects(segment.end(1), error);
});
