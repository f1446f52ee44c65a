import { type Pcm, SAMPLE_RATE } from '../engine.ts';

/** Quieter audio is amplified to this peak, of 1: the model misses speech 40 dB below usual levels. */
const PEAK_MIN = 6000 / 32_768;
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
  return Float32Array.from(piece, (sample, at) => {
    // Between the middles of two blocks the gain changes gradually.
    const position = Math.max(0, at / BLOCK - 0.5);
    const block = Math.min(gains.length - 1, Math.floor(position));
    const next = gains[block + 1] ?? gains[block]!;
    return (sample * (gains[block]! + (next - gains[block]!) * (position - block))) / 32_768;
  });
}

/** The gain of each half second, by its peak and those of its neighbours. */
function blockGains(piece: Pcm): number[] {
  const peaks = Array.from({ length: Math.ceil(piece.length / BLOCK) }, (_, block) =>
    piece.subarray(block * BLOCK, (block + 1) * BLOCK).reduce((most, sample) => Math.max(most, Math.abs(sample)), 1),
  );
  const gainOf = (peak: number) => Math.max(1, (PEAK_MIN * 32_768) / peak);
  const gainOfAll = gainOf(Math.max(1, ...peaks));
  return peaks.map((_, block) => {
    const near = Math.max(...peaks.slice(Math.max(0, block - 1), block + 2));
    return Math.min(gainOf(near), gainOfAll * LOCAL_GAIN_MAX);
  });
}
