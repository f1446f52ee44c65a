import { type Pcm, SAMPLE_RATE } from '../../engines/engine.ts';
import type { Frames } from './fill-holes.ts';

/** Half a second: the phase of a recording does not change from word to word. */
const BLOCK_FRAMES = SAMPLE_RATE / 2;
/**
 * The power of the mean of both sides beside that of half their difference. Below the first value (10 dB) most of the
 * sound is lost in the mean, and the louder side is taken; up to the second one that remains so.
 */
const OPPOSITE_BELOW = 0.1;
const IN_PHASE_FROM = 0.3;
/** Of the mean power of a block's samples. What is more quiet tells nothing about the phase. */
const POWER_MIN = 4;

/**
 * Mixes two channels into one: the mean of both, or the louder one while their phase is opposite, as of a cable that is
 * wired the wrong way round. In the mean such sound cancels itself.
 */
export class StereoMixer {
  #isOpposite = false;
  /** The louder side when the phase became opposite: 0 or 1. To change it meanwhile would turn the phase over. */
  #side = 0;

  /** One channel comes back as it is; more than two, of which nobody knows what they are, in equal parts. */
  mix({ channels, samples }: Frames): Pcm {
    if (channels === 1) return samples;
    if (channels > 2) return meanOf(samples, channels);
    const mixed = new Int16Array(samples.length / 2);
    for (let from = 0; from < mixed.length; from += BLOCK_FRAMES) {
      const to = Math.min(mixed.length, from + BLOCK_FRAMES);
      this.#mixBlock(samples.subarray(2 * from, 2 * to), mixed.subarray(from, to));
    }
    return mixed;
  }

  #mixBlock(block: Pcm, mixed: Pcm): void {
    const { left, right, mean, difference } = powers(block);
    if (mean + difference >= POWER_MIN) {
      const isOpposite = mean < difference * (this.#isOpposite ? IN_PHASE_FROM : OPPOSITE_BELOW);
      if (isOpposite && !this.#isOpposite) this.#side = left >= right ? 0 : 1;
      this.#isOpposite = isOpposite;
    }
    for (let at = 0; at < mixed.length; at += 1) {
      mixed[at] = this.#isOpposite ? block[2 * at + this.#side]! : (block[2 * at]! + block[2 * at + 1]!) / 2;
    }
  }
}

function meanOf(samples: Pcm, channels: number): Pcm {
  const mean = new Int16Array(samples.length / channels);
  for (let frame = 0; frame < mean.length; frame += 1) {
    let sum = 0;
    for (let at = frame * channels; at < (frame + 1) * channels; at += 1) sum += samples[at]!;
    mean[frame] = Math.round(sum / channels);
  }
  return mean;
}

/** The mean power of each side, of the mean of both, and of half their difference. */
function powers(block: Pcm): { left: number; right: number; mean: number; difference: number } {
  let [leftSum, rightSum, product] = [0, 0, 0];
  for (let at = 0; at < block.length; at += 2) {
    const [left, right] = [block[at]!, block[at + 1]!];
    leftSum += left * left;
    rightSum += right * right;
    product += left * right;
  }
  const frames = block.length / 2;
  return {
    left: leftSum / frames,
    right: rightSum / frames,
    mean: (leftSum + 2 * product + rightSum) / 4 / frames,
    difference: (leftSum - 2 * product + rightSum) / 4 / frames,
  };
}
