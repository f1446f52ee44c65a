import { type Pcm, SAMPLE_RATE } from '../engine.ts';

const FULL_SCALE = 32_768;
/** Quieter audio is amplified to this peak: the model misses speech 40 dB below usual levels. */
const PEAK_MIN = 6000;
/**
 * Within audio that holds louder sound: a voice 30 dB quieter than the one before it. With more, breath between two
 * knocks looked like speech.
 */
const LOCAL_GAIN_MAX = 30;
const BLOCK = SAMPLE_RATE / 2;

/**
 * The samples as a voice detector needs them, at full scale 1: the quiet parts amplified as if they stood alone. Noise
 * does not look more like speech when it is amplified (measured: hiss, rumble, hum, music, rooms).
 */
export function level(piece: Pcm): Float32Array {
  const gains = blockGains(piece);
  const levelled = new Float32Array(piece.length);
  // Between the middles of two blocks the gain changes gradually.
  for (let from = 0, block = -1; from < piece.length; block += 1) {
    const to = Math.min(piece.length, (block + 1.5) * BLOCK);
    const first = gains[Math.max(0, block)]!;
    const step = ((gains[block + 1] ?? first) - first) / BLOCK;
    const middle = (block + 0.5) * BLOCK;
    for (let at = from; at < to; at += 1) levelled[at] = (piece[at]! * (first + step * (at - middle))) / FULL_SCALE;
    from = to;
  }
  return levelled;
}

/** The gain of each half second, by its peak and those of its neighbours. */
function blockGains(piece: Pcm): number[] {
  const peaks = Array.from({ length: Math.ceil(piece.length / BLOCK) }, (_, block) =>
    peakOf(piece, block * BLOCK, Math.min(piece.length, (block + 1) * BLOCK)),
  );
  const gainOf = (peak: number) => Math.max(1, PEAK_MIN / peak);
  const gainOfAll = gainOf(Math.max(1, ...peaks));
  return peaks.map((_, block) => {
    const near = Math.max(...peaks.slice(Math.max(0, block - 1), block + 2));
    return Math.min(gainOf(near), gainOfAll * LOCAL_GAIN_MAX);
  });
}

/** The largest amplitude of some samples, at least 1. */
export function peakOf(piece: Pcm, from: number, to: number): number {
  let most = 1;
  for (let at = from; at < to; at += 1) most = Math.max(most, Math.abs(piece[at]!));
  return most;
}
