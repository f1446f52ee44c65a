import type { Pcm } from '../../engines/engine.ts';

const FULL_SCALE = 32_767;
/** The level comes back by so much for each sample: by half in 11 s of one channel. */
const RECOVERY = 1 - 1 / 2 ** 18;

/**
 * Makes samples of 16 bits from floating-point samples. Recorders with 32 bits need no level: their peaks may be far
 * above full scale, or in the scale of integers. Louder audio than full scale is turned down by its peak, and comes
 * back slowly, so that words keep their shape; all other audio stays as it is.
 */
export class FloatLevel {
  #peak = 1;

  /** @param samples  1 is full scale; what is not a number is silence */
  toPcm(samples: Float32Array): Pcm {
    const pcm = new Int16Array(samples.length);
    let loudest = 1;
    for (const sample of samples) if (Number.isFinite(sample)) loudest = Math.max(loudest, Math.abs(sample));
    this.#peak = Math.max(loudest, this.#peak * RECOVERY ** samples.length);
    const gain = FULL_SCALE / this.#peak;
    for (let at = 0; at < samples.length; at += 1) {
      const sample = samples[at]! * gain;
      pcm[at] = Number.isFinite(sample) ? Math.round(sample) : 0;
    }
    return pcm;
  }
}
