import { type Pcm, SAMPLE_RATE } from '../engine.ts';
import { SILENCE_MAX_AMPLITUDE } from '../silence.ts';

const FRAME = SAMPLE_RATE / 100;
/** Of the energy of a frame: what one sine wave may leave unexplained after a codec. */
const RESIDUAL_MAX = 0.01;
/** Distances in samples: sounds for which all relations hold without a pure tone are rare. */
const LAGS = [5, 8, 24];
/** 40 dB below the loudest sample: the noise of a codec in the pauses between tones. */
const QUIET_SHARE = 0.01;
/** In a row: the end of a tone and the start of the next. Every word has more. */
const OTHER_FRAMES_MAX = 4;

/**
 * Whether the sound is nothing but pure tones, one at a time, with or without pauses. Such audio comes from telephones
 * and from test signals.
 */
export function isPureTone(piece: Pcm): boolean {
  let peak = 0;
  for (let at = 0; at < piece.length; at += 1) peak = Math.max(peak, Math.abs(piece[at]!));
  // As floating-point numbers: each sum below would convert its samples, which takes as long as all else.
  const frame = new Float64Array(FRAME);
  const quiet = Math.max(SILENCE_MAX_AMPLITUDE, peak * QUIET_SHARE);
  let tonal = 0;
  let others = 0;
  for (let at = 0; at + FRAME <= piece.length; at += FRAME) {
    frame.set(piece.subarray(at, at + FRAME));
    if (frame.every((sample) => Math.abs(sample) < quiet)) others = 0;
    else if (LAGS.every((lag) => residual(frame, lag) < RESIDUAL_MAX)) {
      tonal += 1;
      others = 0;
    } else {
      others += 1;
      if (others > OTHER_FRAMES_MAX) return false;
    }
  }
  return tonal > OTHER_FRAMES_MAX;
}

/**
 * Every sine wave obeys x[n + lag] + x[n - lag] = c x[n] with a c of its frequency. The share of the energy that
 * remains with the best c.
 */
function residual(frame: Float64Array, lag: number): number {
  let sums = 0;
  let centres = 0;
  let products = 0;
  for (let at = lag; at + lag < frame.length; at += 1) {
    const sum = frame[at + lag]! + frame[at - lag]!;
    const centre = frame[at]!;
    sums += sum * sum;
    centres += centre * centre;
    products += sum * centre;
  }
  const left = centres === 0 ? sums : sums - (products * products) / centres;
  return sums + centres === 0 ? 1 : left / (sums + centres);
}
