import assert from 'node:assert/strict';
import test from 'node:test';
import { toneSpeech } from '../../../test/fixtures/audio/tone/speech.ts';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { type EngineFeature, type Pcm, SAMPLE_RATE, type Transcript } from '../engine.ts';
import { type SpeechEngine, transcribeSpeech } from './transcribe-speech.ts';

const OPTIONS = { language: null, timeoutMs: 1000, signal: new AbortController().signal };

/** Noise that no test of an engine looks at. */
function noise(seconds: number): Pcm {
  const random = randomFrom(3).next;
  return Int16Array.from({ length: seconds * SAMPLE_RATE }, () => (random() - 0.5) * 8000);
}

type Says = (seconds: number) => string | Transcript;
type EngineWish = { features?: EngineFeature[]; maxPieceSeconds?: number; isCalibrated?: boolean };

/** An engine that says something for the length of what it is given, in one segment without times. */
function engineThat(says: Says, wish: EngineWish = {}): SpeechEngine & { given: number[] } {
  const given: number[] = [];
  return {
    ...wish,
    given,
    async transcribe(piece) {
      const endSeconds = piece.length / SAMPLE_RATE;
      given.push(Math.round(endSeconds * 10) / 10);
      const text = says(endSeconds);
      if (typeof text !== 'string') return text;
      const segment = { text, startSeconds: 0, endSeconds, confidence: null, words: [] };
      return { language: 'en', segments: text === '' ? [] : [segment] };
    },
  };
}

/** Text as of usual speech: twelve letters a second. */
const spoken = (seconds: number): string =>
  'abc '.repeat(Math.round(seconds * 4)).replaceAll(/abc/g, (_, at: number) => word(at));
const word = (at: number) => String.fromCharCode(97 + ((at / 4) % 26), 98 + ((at / 4) % 25), 99);

async function hear(engine: SpeechEngine, seconds: number, speech: [number, number][] | null) {
  const intervals = speech?.map(([startSeconds, endSeconds]) => ({ startSeconds, endSeconds })) ?? null;
  const { transcript, untranscribed, repetitions } = await transcribeSpeech(engine, noise(seconds), intervals, OPTIONS);
  const times = (all: { startSeconds: number; endSeconds: number }[]) =>
    all.map(({ startSeconds, endSeconds }) => [startSeconds, endSeconds].map((one) => Math.round(one * 10) / 10));
  return {
    text: transcript.segments.map(({ text }) => text).join(' '),
    segments: times(transcript.segments),
    untranscribed: times(untranscribed),
    repetitions: times(repetitions),
  };
}

test('audio without detected speech reaches no engine', async () => {
  const engine = engineThat(() => 'You');

  const heard = await hear(engine, 8, [[0.1, 0.3]]);

  assert.deepEqual(heard, { text: '', segments: [], untranscribed: [], repetitions: [] });
  assert.deepEqual(engine.given, []);
});

test('a phrase has the times of its speech, and the engine is given the speech with its margins only', async () => {
  const engine = engineThat(() => 'might even have been made amiable');

  const heard = await hear(engine, 20, [[5.5, 8.5]]);

  assert.deepEqual([heard.segments, engine.given], [[[5.5, 8.5]], [3.6]]);
});

test('speech for which the engine gives no text is transcribed again in halves', async () => {
  const engine = engineThat((seconds) => (seconds > 3 ? '' : spoken(seconds)), { features: ['words'] });

  const heard = await hear(engine, 10, [[0, 10]]);

  assert.ok(heard.text.length > 80, heard.text);
  assert.deepEqual(heard.untranscribed, []);
  assert.ok(
    engine.given.every((seconds) => seconds > 0.7),
    String(engine.given),
  );
});

test('speech without text after all tries is untranscribed, as one part of the audio', async () => {
  const engine = engineThat(() => '♪');

  const heard = await hear(engine, 25, [
    [2, 11],
    [11.3, 14.5],
  ]);

  assert.deepEqual(heard, { text: '', segments: [], untranscribed: [[2, 14.5]], repetitions: [] });
});

test('without a voice detector the tries are the same, and nothing is untranscribed', async () => {
  const engine = engineThat(() => '');
  const piece = noise(6);
  piece.fill(0, 0, 2 * SAMPLE_RATE);

  const { untranscribed } = await transcribeSpeech(engine, piece, null, OPTIONS);

  assert.deepEqual(untranscribed, []);
  assert.ok(engine.given.length > 2, String(engine.given));
});

test('a text that is too short for its speech is replaced when the halves have more', async () => {
  const engine = engineThat((seconds) => (seconds > 6 ? 'And' : spoken(seconds)));

  const heard = await hear(engine, 8, [[0, 8]]);

  assert.ok(heard.text.length > 60, heard.text);
});

test('a text that is too short for its speech is replaced where the halves have it and more', async () => {
  const engine = engineThat(() => (engine.given.length === 3 ? 'What the other half says is longer.' : 'And so'));

  const heard = await hear(engine, 8, [[0, 8]]);

  assert.equal(heard.text, 'And so what the other half says is longer.');
});

test('a text that would do is too short where the engine wrote errors, and is tried again in halves', async () => {
  const segment = (text: string, endSeconds: number) => ({
    text,
    startSeconds: 0,
    endSeconds,
    confidence: null,
    words: [],
  });
  for (const hasErrors of [false, true]) {
    const engine = engineThat((seconds) => {
      const text = seconds > 3 ? 'and so' : spoken(seconds);
      return { language: 'en', segments: [segment(text, seconds)], ...(seconds > 3 && hasErrors && { hasErrors }) };
    });

    const heard = await hear(engine, 3.5, [[0, 3.5]]);

    assert.equal(heard.text === 'and so', !hasErrors);
    assert.equal(engine.given.length, hasErrors ? 3 : 1);
  }
});

test('audio with too little speech for a doubt is tried again where the engine wrote errors and gave no text', async () => {
  const empty = (seconds: number) => ({ language: 'en', segments: [], ...(seconds > 3 && { hasErrors: true }) });
  const engine = engineThat((seconds) => (seconds > 3 ? empty(seconds) : 'yes'));

  const piece = noise(4).map((sample, at) =>
    at > 1.8 * SAMPLE_RATE && at < 2.2 * SAMPLE_RATE ? sample : sample / 500,
  );

  const { transcript } = await transcribeSpeech(engine, piece, null, OPTIONS);

  assert.match(transcript.segments[0]?.text ?? '', /yes/);
});

test('text that is as much as usual stays, though the engine wrote errors', async () => {
  const engine = engineThat((endSeconds) => ({
    language: 'en',
    segments: [{ text: spoken(endSeconds), startSeconds: 0, endSeconds, confidence: null, words: [] }],
    hasErrors: true,
  }));

  await hear(engine, 6, [[0, 6]]);

  assert.equal(engine.given.length, 1);
});

test('the text of an engine that says the same of all audio stands once, and costs two more calls', async () => {
  const engine = engineThat(() => 'hello world', { features: ['words'] });

  const heard = await hear(engine, 8, [[0, 8]]);

  assert.deepEqual([heard.text, heard.untranscribed, engine.given.length], ['hello world', [], 3]);
});

test('a short text stays where the halves have no more, and what has none in them is untranscribed', async () => {
  const engine = engineThat((seconds) => (seconds > 6 ? 'Hello there' : ''), { features: ['words'] });

  const heard = await hear(engine, 8, [[0, 8]]);

  assert.deepEqual([heard.text, heard.untranscribed], ['Hello there', [[0, 8]]]);
});

test('a loop is tried again with another cut', async () => {
  const engine = engineThat((seconds) => (seconds > 6 ? 'thank you '.repeat(30) : spoken(seconds)));

  const heard = await hear(engine, 8, [[0, 8]]);

  assert.ok(!heard.text.includes('thank') && heard.text.length > 60, heard.text);
  assert.deepEqual(heard.repetitions, []);
});

test('a phrase that is repeated in each half as often as in the whole is a loop, and is kept once', async () => {
  for (const times of [3, 4]) {
    const engine = engineThat((seconds) => (seconds > 1 ? 'thank you for watching '.repeat(times).trim() : 'so'));

    const heard = await hear(engine, 6, [[0, 6]]);

    assert.deepEqual([heard.text, heard.repetitions], ['thank you for watching', [[0, 6]]]);
  }
});

test('a phrase that is repeated in the halves less often was said so', async () => {
  const engine = engineThat((seconds) => 'half a league '.repeat(Math.round(seconds / 2)).trim());

  const heard = await hear(engine, 8, [[0, 8]]);

  assert.deepEqual([heard.text, heard.repetitions], ['half a league half a league half a league half a league', []]);
});

test('a phrase that is not repeated in the halves was a loop', async () => {
  const engine = engineThat((seconds) => (seconds > 6 ? 'thank you for watching '.repeat(4) : spoken(seconds)));

  const heard = await hear(engine, 8, [[0, 8]]);

  assert.ok(!heard.text.includes('thank') && heard.text.length > 60, heard.text);
});

test('a loop that stays is kept once in each part, with its times', async () => {
  const engine = engineThat((seconds) => 'thank you '.repeat(Math.ceil(10 * seconds)));

  const heard = await hear(engine, 2.5, [[0.2, 2.3]]);

  assert.deepEqual([heard.text, heard.repetitions], ['thank you', [[0.2, 2.3]]]);
});

test('the words of a loop with times are dropped after the first repetition', async () => {
  const texts = [...'hello'.split(' '), ...'no '.repeat(12).trim().split(' ')];
  const words = texts.map((text, at) => ({ text, startSeconds: at / 8, endSeconds: at / 8 + 0.1, confidence: 0.5 }));
  const segment = { text: texts.join(' '), startSeconds: 0, endSeconds: 1.6, confidence: 0.5, words };
  const engine = engineThat(() => ({ language: 'en', segments: [segment] }), { features: ['words'] });

  const { transcript, repetitions } = await transcribeSpeech(
    engine,
    noise(2),
    [{ startSeconds: 0, endSeconds: 2 }],
    OPTIONS,
  );

  assert.deepEqual(
    transcript.segments[0]!.words.map(({ text }) => text),
    ['hello', 'no'],
  );
  assert.deepEqual([transcript.segments[0]!.text, transcript.segments[0]!.endSeconds], ['hello no', 0.225]);
  assert.deepEqual(repetitions, [{ startSeconds: 0.125, endSeconds: 1.6 }]);
});

test('an engine whose limit is shorter than the piece is given parts within the limit', async () => {
  const engine = engineThat(spoken, { features: ['words'], maxPieceSeconds: 5 });

  await hear(engine, 24, [[0, 24]]);

  assert.ok(engine.given.length >= 5 && engine.given.every((seconds) => seconds <= 5), String(engine.given));
});

test('a speech server that gives no times is given phrases from then on', async () => {
  const engine = engineThat(spoken, { features: ['words'] });
  const speech: [number, number][] = [
    [0, 8],
    [10, 18],
  ];

  const heard = [await hear(engine, 20, speech), await hear(engine, 20, speech)];

  assert.deepEqual(
    heard.map(({ segments }) => segments),
    [speech, speech],
  );
  assert.deepEqual(engine.given, [20, 8.3, 8.6, 8.3, 8.6]);
});

test('a phrase that is a tone reaches no calibrated engine, though the detector takes its start for speech', async () => {
  const piece = noise(12);
  piece.fill(0, 3 * SAMPLE_RATE, 10 * SAMPLE_RATE);
  piece.set(
    Int16Array.from({ length: 2 * SAMPLE_RATE }, (_, at) => 5000 * Math.sin(at / 6)),
    6 * SAMPLE_RATE,
  );
  const engine = engineThat(() => 'You', { isCalibrated: true });

  const { transcript } = await transcribeSpeech(engine, piece, [{ startSeconds: 6, endSeconds: 6.4 }], OPTIONS);

  assert.deepEqual([transcript.segments, engine.given], [[], []]);
});

test('pure tones go to an engine that has shown no words of speech, and only to such', async () => {
  const tones = toneSpeech('hello');
  const engine = engineThat(() => 'hello');
  const calibrated = engineThat(() => 'You', { isCalibrated: true });

  const [first, second] = await Promise.all(
    [engine, calibrated].map((one) => transcribeSpeech(one, tones, [], OPTIONS)),
  );

  assert.deepEqual([first!.transcript.segments[0]?.text, second!.transcript.segments], ['hello', []]);
});

test('phrases that were cut in a sentence read as one, and audio that was given whole keeps its text', async () => {
  const engine = engineThat((seconds) => (seconds > 5 ? 'My fellow Americans, we ask not.' : 'What your country did.'));
  const parted = engineThat((seconds) => (seconds > 5 ? 'My fellow Americans, we ask not.' : 'Of your country,.'));
  const speech: [number, number][] = [
    [0.3, 6],
    [6.9, 9.3],
  ];

  assert.equal((await hear(engine, 10, speech)).text, 'My fellow Americans, we ask not what your country did.');
  assert.equal((await hear(parted, 10, speech)).text, 'My fellow Americans, we ask not of your country.');
  const whole = engineThat(() => 'That, the. Of it,, Of');
  assert.equal((await hear(whole, 3, [[0.2, 2.8]])).text, 'That, the. Of it,, Of');
});
