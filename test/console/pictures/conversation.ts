import { type Pcm, SAMPLE_RATE } from '../../../src/engines/engine.ts';
import { wavHeader } from '../../../src/engines/wav-header.ts';
import { randomFrom } from '../../fixtures/random.ts';

/** Who says what. */
const TURNS = [
  ['left', 'Good morning. You wanted to talk about the delivery to Rotterdam.'],
  [
    'right',
    'Yes. The truck arrived on Tuesday, but two of the pallets were wet, and the labels could not be read any more.',
  ],
  ['left', 'I am sorry to hear that. Do you have the number of the order?'],
  ['right', 'It is four two seven one. We took pictures before anything was unloaded.'],
  ['left', 'Thank you. Then we can send new pallets today, and they will be with you on Friday.'],
  ['right', 'Friday would be too late for us. Is there a way to have them by Thursday noon?'],
  ['left', 'Let me ask the warehouse. I will call you back within the hour.'],
  ['right', 'That would help. Thank you very much.'],
] as const;

const WORDS = TURNS.flatMap(([channel, text]) => text.split(' ').map((text) => ({ channel, text })));

// A word is a tone: its frequency says which one it is.
const FIRST_HZ = 400;
const STEP_HZ = 25;
const TONE_SECONDS = 0.32;
const REST_SECONDS = 0.06;
const PAUSE_SECONDS = 0.7;
const SILENT = 40;
const DOUBTFUL_SHARE = 0.12;

/** A stereo WAV of the conversation, with a channel for each of the two speakers. */
export function conversationWav(): Buffer<ArrayBuffer> {
  const random = randomFrom(7);
  const starts = startsOf();
  const frames = Math.round((starts.at(-1)! + TONE_SECONDS + PAUSE_SECONDS) * SAMPLE_RATE);
  const samples = new Int16Array(2 * frames);
  for (const [index, { channel }] of WORDS.entries()) {
    const loudness = 4_000 + 9_000 * random.next();
    const first = Math.round(starts[index]! * SAMPLE_RATE);
    const length = Math.round(TONE_SECONDS * SAMPLE_RATE);
    for (let at = 0; at < length; at++) {
      const tone = Math.sin((2 * Math.PI * (FIRST_HZ + index * STEP_HZ) * at) / SAMPLE_RATE);
      const swell = Math.max(0.1, Math.sin((Math.PI * at) / length));
      samples[2 * (first + at) + (channel === 'left' ? 0 : 1)] = loudness * swell * tone;
    }
  }
  const header = wavHeader(samples);
  header.writeUInt16LE(2, 22);
  header.writeUInt32LE(4 * SAMPLE_RATE, 28);
  header.writeUInt16LE(4, 32);
  return Buffer.concat([header, Buffer.from(samples.buffer)]);
}

/** In seconds, of each word. */
function startsOf(): number[] {
  let at = 0.4;
  return WORDS.map(({ channel }, index) => {
    if (index > 0) at += TONE_SECONDS + REST_SECONDS + (channel === WORDS[index - 1]!.channel ? 0 : PAUSE_SECONDS);
    return at;
  });
}

/** The answer of a speech server that hears the words in this piece of the conversation. */
export function hear(piece: Pcm): string {
  const random = randomFrom(piece.length);
  const words = tonesIn(piece).flatMap(({ start, end, hertz }) => {
    const word = WORDS[Math.round((hertz - FIRST_HZ) / STEP_HZ)]?.text;
    const probability = random.next() < DOUBTFUL_SHARE ? 0.38 : 0.97;
    return word === undefined ? [] : [{ word, start: start / SAMPLE_RATE, end: end / SAMPLE_RATE, probability }];
  });
  const sentences = Map.groupBy(words, ({ start }) =>
    words.findIndex((each, at) => each.start >= start && isLast(words, at)),
  );
  const segments = [...sentences.values()].map((said) => ({
    text: said.map(({ word }) => word).join(' '),
    start: said[0]!.start,
    end: said.at(-1)!.end,
  }));
  return JSON.stringify({ language: 'en', text: segments.map(({ text }) => text).join(' '), segments, words });
}

/** A turn ends where a pause follows. */
function isLast(words: { start: number; end: number }[], at: number): boolean {
  const next = words[at + 1];
  return next === undefined || next.start - words[at]!.end > PAUSE_SECONDS / 2;
}

type Tone = { start: number; end: number; hertz: number };

function tonesIn(piece: Pcm): Tone[] {
  const tones: Tone[] = [];
  const restSamples = (REST_SECONDS / 2) * SAMPLE_RATE;
  let start = -1;
  let [last, crossings] = [0, 0];
  const end = () => {
    const seconds = (last - start) / SAMPLE_RATE;
    if (start >= 0 && seconds > TONE_SECONDS / 2) tones.push({ start, end: last, hertz: crossings / 2 / seconds });
  };
  for (let at = 1; at < piece.length; at++) {
    if (Math.abs(piece[at]!) < SILENT) continue;
    if (start < 0 || at - last > restSamples) {
      end();
      [start, crossings] = [at, 0];
    } else if (piece[at]! > 0 !== piece[last]! > 0) crossings++;
    last = at;
  }
  end();
  return tones;
}
