import type { LiveSampleRate } from './encoding.ts';

const OUTPUT_RATE = 16_000;
const FRAMES_PER_SECOND = 100;
/** Samples of one frame of 10 ms, as the engines take it. */
export const FRAME_SAMPLES = OUTPUT_RATE / FRAMES_PER_SECOND;
// Zero crossings of the filter on each side: below 7 kHz it passes everything, and reflections are 60 dB down.
const ZERO_CROSSINGS = 16;

/**
 * Resamples one channel to 16,000 samples per second, frame by frame of 10 ms, by a windowed sinc filter. A frame of
 * output depends on its own frame of input and the one before it only, so that a resampler that starts anew one frame
 * earlier gives the same samples. The output is late by half the filter: at most 2 ms.
 */
export class Resampler {
  readonly #inputSamples: number;
  readonly #filter: Filter | null;
  /** The frame before and the frame at hand. */
  readonly #window: Float64Array;

  constructor(sampleRate: LiveSampleRate) {
    this.#inputSamples = sampleRate / FRAMES_PER_SECOND;
    this.#filter = sampleRate === OUTPUT_RATE ? null : filterFor(sampleRate);
    this.#window = new Float64Array(2 * this.#inputSamples);
  }

  /** @param frame  the next 10 ms */
  push(frame: Int16Array): Int16Array {
    if (this.#filter === null) return frame;
    const { phases, starts, taps } = this.#filter;
    this.#window.copyWithin(0, this.#inputSamples);
    this.#window.set(frame, this.#inputSamples);
    const output = new Int16Array(FRAME_SAMPLES);
    for (let at = 0; at < FRAME_SAMPLES; at++) {
      const phase = phases[at]!;
      const start = starts[at]!;
      let sum = 0;
      for (let tap = 0; tap < taps; tap++) sum += this.#window[start + tap]! * phase[tap]!;
      output[at] = Math.max(-32_768, Math.min(32_767, Math.round(sum)));
    }
    return output;
  }
}

/** The weights of each sample of an output frame, and the first sample of the window that they apply to. */
type Filter = { phases: Float64Array[]; starts: number[]; taps: number };

const FILTERS = new Map<LiveSampleRate, Filter>();

function filterFor(sampleRate: LiveSampleRate): Filter {
  const known = FILTERS.get(sampleRate);
  if (known) return known;
  const filter = makeFilter(sampleRate);
  FILTERS.set(sampleRate, filter);
  return filter;
}

function makeFilter(sampleRate: number): Filter {
  const step = sampleRate / OUTPUT_RATE;
  const inputSamples = sampleRate / FRAMES_PER_SECOND;
  // Where the input has more samples, the filter must cut what the output cannot hold.
  const cutoff = Math.min(1, 1 / step);
  const half = Math.min(ZERO_CROSSINGS / cutoff, inputSamples / 2 - 1);
  const taps = 2 * Math.ceil(half);
  const centres = Array.from({ length: FRAME_SAMPLES }, (_, at) => inputSamples + at * step - half);
  const starts = centres.map((centre) => Math.ceil(centre - half));
  const phases = centres.map((centre, at) => weights({ centre, start: starts[at]!, taps, half, cutoff }));
  return { phases, starts, taps };
}

type Window = { centre: number; start: number; taps: number; half: number; cutoff: number };

/** A sinc with a Hann window, scaled so that a constant signal keeps its level. */
function weights({ centre, start, taps, half, cutoff }: Window): Float64Array {
  const raw = Float64Array.from({ length: taps }, (_, tap) => {
    const distance = start + tap - centre;
    if (Math.abs(distance) >= half) return 0;
    return sinc(distance * cutoff) * (0.5 + 0.5 * Math.cos((Math.PI * distance) / half));
  });
  const sum = raw.reduce((total, weight) => total + weight, 0);
  return raw.map((weight) => weight / sum);
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}
