import { SAMPLE_RATE } from '../../src/engines/engine.ts';

/** Sounds that a voice detector may take for speech, each from a seed: samples between -1 and 1. */
export type Sound = (seconds: number, seed: number) => Float64Array;

/** A resonance of the mouth, or of the body of an instrument: frequency and width in Hz, and its share. */
type Resonance = readonly [frequency: number, width: number, share: number];

const AH: readonly Resonance[] = [
  [730, 80, 1],
  [1090, 90, 0.6],
  [2440, 120, 0.2],
  [3400, 200, 0.1],
];
const WOOD: readonly Resonance[] = [
  [290, 60, 1],
  [500, 80, 1],
  [1000, 150, 0.6],
  [2300, 400, 0.6],
  [3500, 600, 0.3],
];
const LIPS: readonly Resonance[] = [
  [250, 60, 1],
  [1000, 200, 0.08],
  [2200, 300, 0.02],
];
const MAJOR = [0, 2, 4, 5, 7, 9, 12];

/** A vowel that is held, as at a doctor's. */
export const longVowel: Sound = (seconds, seed) => {
  const random = randomOf(seed);
  const pitch = 110 + 140 * random();
  const source = harmonics(
    seconds,
    (at) => pitch * (1 + 0.01 * Math.sin(33 * at) + 0.01 * Math.sin(9 * at)),
    1.2,
    random,
  );
  const loudness = (at: number) => Math.min(1, at / 0.1, (seconds - at) / 0.2);
  return faded(resonate(source, AH), loudness);
};

/** A melody on one vowel. */
export const sungVowel: Sound = (seconds, seed) => {
  const random = randomOf(seed);
  const { pitch, loudness } = melody(seconds, { lowest: 165, noteSeconds: [0.3, 1], vibrato: 0.008 }, random);
  return faded(resonate(harmonics(seconds, pitch, 1.2, random), AH), loudness);
};

export const violin: Sound = (seconds, seed) => {
  const random = randomOf(seed);
  const { pitch, loudness } = melody(seconds, { lowest: 294, noteSeconds: [0.25, 1.5], vibrato: 0.006 }, random);
  return faded(resonate(harmonics(seconds, pitch, 1, random), WOOD), loudness);
};

/** A tune that is hummed with closed lips. */
export const humming: Sound = (seconds, seed) => {
  const random = randomOf(seed);
  const { pitch, loudness } = melody(seconds, { lowest: 131, noteSeconds: [0.3, 1], vibrato: 0.008 }, random);
  return faded(resonate(harmonics(seconds, pitch, 1.2, random), LIPS), loudness);
};

/** Numbers from 0 to 1 (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function samples(seconds: number, valueAt: (seconds: number) => number): Float64Array {
  return Float64Array.from({ length: seconds * SAMPLE_RATE }, (_, at) => valueAt(at / SAMPLE_RATE));
}

function faded(sound: Float64Array, loudness: (seconds: number) => number): Float64Array {
  return sound.map((value, at) => value * loudness(at / SAMPLE_RATE));
}

type Melody = { lowest: number; noteSeconds: readonly [number, number]; vibrato: number };

function melody(seconds: number, { lowest, noteSeconds: [shortest, longest], vibrato }: Melody, random: () => number) {
  const notes: { start: number; end: number; pitch: number }[] = [];
  for (let start = 0; start < seconds; start = notes.at(-1)!.end) {
    const pitch = lowest * 2 ** (MAJOR[Math.floor(random() * MAJOR.length)]! / 12);
    notes.push({ start, end: start + shortest + (longest - shortest) * random(), pitch });
  }
  const noteAt = (at: number) => notes.find(({ end }) => at < end)!;
  return {
    pitch: (at: number) => noteAt(at).pitch * (1 + vibrato * Math.sin(35 * at)),
    loudness: (at: number) => Math.min(1, (at - noteAt(at).start) / 0.06, (noteAt(at).end - at) / 0.06),
  };
}

/** The harmonics of a string or a throat, each weaker than the one before, with a little breath. */
function harmonics(seconds: number, pitchAt: (seconds: number) => number, tilt: number, random: () => number) {
  const starts = Array.from({ length: 30 }, () => 2 * Math.PI * random());
  let phase = 0;
  return samples(seconds, (at) => {
    const pitch = pitchAt(at);
    phase += (2 * Math.PI * pitch) / SAMPLE_RATE;
    let sum = 0.05 * (2 * random() - 1);
    for (let order = 1; order <= starts.length && order * pitch < 7500; order += 1) {
      sum += order ** -tilt * Math.sin(order * phase + starts[order - 1]!);
    }
    return sum;
  });
}

function resonate(source: Float64Array, resonances: readonly Resonance[]): Float64Array {
  const sum = new Float64Array(source.length);
  for (const [frequency, width, share] of resonances) {
    const radius = Math.exp((-Math.PI * width) / SAMPLE_RATE);
    const first = 2 * radius * Math.cos((2 * Math.PI * frequency) / SAMPLE_RATE);
    const rung = new Float64Array(source.length);
    let power = 0;
    for (let at = 0; at < source.length; at += 1) {
      rung[at] = source[at]! + first * (rung[at - 1] ?? 0) - radius * radius * (rung[at - 2] ?? 0);
      power += rung[at]! ** 2;
    }
    const gain = share / Math.sqrt(power / source.length);
    for (let at = 0; at < source.length; at += 1) sum[at]! += gain * rung[at]!;
  }
  return sum;
}
