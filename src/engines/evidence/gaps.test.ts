import assert from 'node:assert/strict';
import test from 'node:test';
import { randomFrom } from '../../../test/fixtures/random.ts';
import type { Interval } from '../../rules/transcript/intervals.ts';
import { type Pcm, SAMPLE_RATE, type Segment, type Transcript, type Word } from '../engine.ts';
import { type SpeechEngine, transcribeSpeech } from './transcribe-speech.ts';

const OPTIONS = { language: 'en', timeoutMs: 1000, signal: new AbortController().signal };

function noise(seconds: number): Pcm {
  const random = randomFrom(5).next;
  return Int16Array.from({ length: seconds * SAMPLE_RATE }, () => (random() - 0.5) * 8000);
}

/** Words of 0.4 s each, from a time on. */
function spoken(text: string, startSeconds: number): Word[] {
  return text.split(' ').map((word, at) => {
    const start = startSeconds + at * 0.4;
    return { text: word, startSeconds: start, endSeconds: start + 0.35, confidence: 0.9 };
  });
}

/** Words that have all the same time. */
const pressed = (text: string, seconds: number): Word[] =>
  spoken(text, 0).map((word) => ({ ...word, startSeconds: seconds, endSeconds: seconds }));

const segment = (words: Word[]): Segment => ({
  text: words.map(({ text }) => text).join(' '),
  startSeconds: words[0]!.startSeconds,
  endSeconds: words.at(-1)!.endSeconds,
  confidence: 0.9,
  words,
});

/** An engine that gives these segments for these lengths of audio, in whole seconds, and nothing for other audio. */
function engineOf(answers: Record<number, Segment[]>): SpeechEngine & { given: number[] } {
  const given: number[] = [];
  return {
    features: ['words'],
    given,
    async transcribe(piece): Promise<Transcript> {
      const seconds = piece.length / SAMPLE_RATE;
      given.push(Math.round(seconds * 10) / 10);
      return { language: 'en', segments: answers[Math.round(seconds)] ?? [] };
    },
  };
}

async function hear(engine: SpeechEngine, speech: [number, number][], piece = noise(20)) {
  const intervals: Interval[] = speech.map(([startSeconds, endSeconds]) => ({ startSeconds, endSeconds }));
  const { transcript, untranscribed, repetitions } = await transcribeSpeech(engine, piece, intervals, OPTIONS);
  const times = (all: Interval[]) =>
    all.map(({ startSeconds, endSeconds }) => [startSeconds, endSeconds].map((one) => Math.round(one * 10) / 10));
  return {
    text: transcript.segments.map(({ text }) => text).join(' '),
    starts: transcript.segments.map(({ startSeconds }) => Math.round(startSeconds * 10) / 10),
    untranscribed: times(untranscribed),
    repetitions: times(repetitions),
  };
}

// 11 words are 4.4 s.
const FIRST = 'the first part of what was said is here and so';
const LAST = 'after which the last part of the text was there too well';

test('speech in which no word stands for two seconds is transcribed again, and its words stand where they were said', async () => {
  const whole = [segment([...spoken(FIRST, 0), ...spoken(LAST, 14)])];
  const engine = engineOf({
    20: whole,
    7: [segment(spoken('it was left out by the model at first and is there when asked again', 0.5))],
  });

  const heard = await hear(engine, [
    [0, 4.5],
    [5, 11],
    [13.8, 20],
  ]);

  assert.deepEqual(heard, {
    text: `${FIRST} it was left out by the model at first and is there when asked again ${LAST}`,
    starts: [0, 5, 14],
    untranscribed: [],
    repetitions: [],
  });
  // From the pause before it on: half of a word misleads the model.
  assert.deepEqual(engine.given, [20, 7]);
});

test('what has no words when it is transcribed again is untranscribed', async () => {
  const engine = engineOf({ 20: [segment([...spoken(FIRST, 0), ...spoken(LAST, 14)])] });

  const heard = await hear(engine, [
    [0, 4.5],
    [7, 9],
    [14, 20],
  ]);

  assert.deepEqual([heard.text, heard.untranscribed], [`${FIRST} ${LAST}`, [[7, 9]]]);
});

test('speech that is left out again is transcribed by itself, and reported where it has no words then either', async () => {
  const whole = [segment([...spoken(FIRST, 0), ...spoken(LAST, 14)])];
  const answers = { 20: whole, 9: [segment(spoken('only the end of what was said', 6))] };
  const speech: [number, number][] = [
    [0, 4.5],
    [5, 8],
    [10.5, 13],
    [14, 20],
  ];
  const engine = engineOf({ ...answers, 4: [segment(spoken('and then the start of it', 0.5))] });

  const heard = await hear(engine, speech);
  const deaf = await hear(engineOf({ ...answers, 4: [segment(spoken('so', 0))] }), speech);

  assert.equal(heard.text, `${FIRST} and then the start of it only the end of what was said ${LAST}`);
  assert.deepEqual([heard.untranscribed, engine.given], [[], [20, 9, 4]]);
  assert.deepEqual(deaf.untranscribed, [[5, 8]]);
});

test('a pause, and a short sound in one, are not transcribed again', async () => {
  const engine = engineOf({ 20: [segment([...spoken(FIRST, 0), ...spoken(LAST, 14)])] });

  await hear(engine, [
    [0, 4.5],
    [8, 9.1],
    [14, 19],
  ]);

  assert.deepEqual(engine.given, [20]);
});

test('speech of which a second try would say little is reported only', async () => {
  const engine = engineOf({ 20: [segment([...spoken(FIRST, 0), ...spoken(LAST, 14)])] });

  const { untranscribed } = await hear(engine, [
    [0, 4.5],
    [8, 9.3],
    [14, 19],
  ]);

  assert.deepEqual([untranscribed, engine.given], [[[8, 9.3]], [20]]);
});

test('words that the model pressed together after what it left out are replaced by what is heard there', async () => {
  const whole = [segment([...spoken(`${FIRST} ${FIRST}`, 0), ...pressed('and these came last', 20)])];
  const engine = engineOf({
    20: whole,
    10: [
      segment([
        ...spoken('between them there was much more than the model wrote at first', 1),
        ...spoken('and these came last', 8),
      ]),
    ],
  });

  const heard = await hear(engine, [
    [0, 14],
    [16, 18],
  ]);

  assert.equal(
    heard.text,
    `${FIRST} ${FIRST} between them there was much more than the model wrote at first and these came last`,
  );
  assert.deepEqual([heard.untranscribed, heard.repetitions], [[], []]);
});

test('words with wrong times stay where nothing more is heard', async () => {
  const whole = [segment([...spoken(`${FIRST} ${FIRST}`, 0), ...pressed('and these came last', 20)])];
  const engine = engineOf({ 20: whole });

  const { text } = await hear(engine, [[0, 20]]);

  assert.equal(text, `${FIRST} ${FIRST} and these came last`);
});

test('an engine that gives times of segments only is asked again too, and one without times is not', async () => {
  const parts = [segment(spoken(FIRST, 0)), segment(spoken(LAST, 14))].map((one) => ({ ...one, words: [] }));
  const engine = engineOf({ 20: parts, 11: [segment(spoken('left out', 4))] });

  assert.equal((await hear(engine, [[0, 20]])).text, `${FIRST} left out ${LAST}`);
});

test('a segment that nobody can say in its time is left out, with a warning', async () => {
  const whole = spoken(`${FIRST} ${FIRST} ${LAST} ${LAST}`, 0);
  const invented = pressed('for a full hour he could wait no longer', 19.5);
  const engine = engineOf({ 20: [segment(whole), { ...segment(invented), endSeconds: 19.7 }] });

  const heard = await hear(engine, [[0, 19]]);

  assert.deepEqual([heard.text, heard.repetitions], [`${FIRST} ${FIRST} ${LAST} ${LAST}`, [[19.5, 19.7]]]);
});

test('a segment in silence or steady noise without speech is left out, and quiet speech stays', async () => {
  const said = segment(spoken(`${FIRST} ${FIRST} ${LAST}`, 0));
  const engine = engineOf({ 20: [said, segment(spoken('20th century research', 17))] });
  const steady = noise(20);
  const quiet = steady.map((sample, at) =>
    at < 16 * SAMPLE_RATE ? sample : (sample / 40) * (1 + Math.sin(at / 2000)) ** 2,
  );

  assert.deepEqual((await hear(engine, [[0, 14]], steady)).repetitions, [[17, 18.2]]);
  assert.match((await hear(engine, [[0, 14]], quiet)).text, /20th century research$/);
});

test('a copy of the text with little speech in it is left out, and one that is said stays', async () => {
  const said = segment(spoken(`${FIRST} ${FIRST} ${LAST}`, 0));
  const engine = engineOf({ 20: [said, segment(spoken('Of what was said.', 16))] });
  const sound = noise(20).map((sample, at) => sample * Math.abs(Math.sin(at / 3000)));

  const [doubtful, spokenAgain] = [
    await hear(
      engine,
      [
        [0, 14],
        [16, 16.4],
      ],
      sound,
    ),
    await hear(
      engine,
      [
        [0, 14],
        [16, 17.6],
      ],
      sound,
    ),
  ];

  assert.deepEqual(doubtful.repetitions, [[16, 17.6]]);
  assert.match(spokenAgain.text, /Of what was said\.$/);
});

test('segments stay where without them there is too little text: only their times are wrong', async () => {
  const words = pressed(`${FIRST} ${LAST} ${FIRST} ${LAST}`, 12);
  const engine = engineOf({ 20: [segment(words)] });

  const heard = await hear(engine, [[0, 20]]);

  assert.equal(heard.text, words.map(({ text }) => text).join(' '));
});
