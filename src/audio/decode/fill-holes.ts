import { type Pcm, SAMPLE_RATE } from '../../engines/engine.ts';
import { joinPcm } from '../../engines/join-pcm.ts';
import type { TimedSamples } from './timed-samples.ts';

/** Samples of all channels, interleaved. */
export type Frames = { channels: number; samples: Pcm };

/**
 * Timestamps of common files are off by up to 92 ms: rounded to the unit of the container, or with the delay of the
 * encoder (measured over 27 formats). A hole is longer.
 */
const HOLE_MIN_SECONDS = 0.1;
/**
 * Two steps between blocks that differ by less are equal: timestamps are rounded to milliseconds. Also the shortest
 * step that counts.
 */
const ROUNDING_SECONDS = 0.003;
/** Timestamps that go back so far start anew: the file was made of several, one after the other. */
const RESTART_MIN_SECONDS = 1;
/** Silence is passed on in parts, so that a long hole takes no memory. */
const SILENCE_MAX_SECONDS = 8;

/**
 * Decoded audio with silence in the holes of its timestamps, so that each sample stands where a player plays it: audio
 * that starts after the picture, a paused recording, lost packets. Samples are never dropped: where timestamps overlap,
 * the audio goes on after what came before. A short step that repeats from block to block is no hole: the sample rate
 * changed within the file, and its timestamps are those of the rate before.
 * @param batches   in the order of the file
 * @param hasTimes  false: the timestamps are the decoder's guess, and there is no hole
 * @param tooLong   is thrown when a hole reaches beyond `maxSeconds`; the samples themselves are the caller's to count
 */
export async function* fillHoles(
  batches: AsyncIterable<TimedSamples[]>,
  { hasTimes, maxSeconds, tooLong }: { hasTimes: boolean; maxSeconds: number; tooLong: () => Error },
): AsyncGenerator<Frames> {
  let written = 0;
  let offset = 0;
  const steps = new StepsBetweenBlocks();
  for await (const batch of batches) {
    let adjoining: Pcm[] = [];
    let channels = 1;
    for (const block of batch) {
      channels = block.channels;
      offset -= Math.round(steps.repeatedSeconds(block) * SAMPLE_RATE);
      const ahead = Math.round(block.startSeconds * SAMPLE_RATE) + offset - written;
      if (ahead < -RESTART_MIN_SECONDS * SAMPLE_RATE) offset -= ahead;
      if (hasTimes && ahead > HOLE_MIN_SECONDS * SAMPLE_RATE) {
        if (written + ahead > maxSeconds * SAMPLE_RATE) throw tooLong();
        if (adjoining.length > 0) yield { channels, samples: joinPcm(adjoining) };
        adjoining = [];
        yield* silence(ahead, channels);
        written += ahead;
      }
      adjoining.push(block.samples);
      written += block.samples.length / channels;
    }
    if (adjoining.length > 0) yield { channels, samples: joinPcm(adjoining) };
  }
}

/** What timestamps leave out between one block and the next. */
class StepsBetweenBlocks {
  #endSeconds: number | null = null;
  #lastStep = 0;
  #isRepeating = false;

  /** The steps that are no hole, as the last ones were equal; 0 where there is none. */
  repeatedSeconds({ startSeconds, samples, channels }: TimedSamples): number {
    const step = this.#endSeconds === null ? 0 : startSeconds - this.#endSeconds;
    const isShort = step > ROUNDING_SECONDS && step < HOLE_MIN_SECONDS;
    const wasRepeating = this.#isRepeating;
    this.#isRepeating = isShort && Math.abs(step - this.#lastStep) < ROUNDING_SECONDS;
    const repeated = this.#isRepeating ? step + (wasRepeating ? 0 : this.#lastStep) : 0;
    this.#endSeconds = startSeconds + samples.length / channels / SAMPLE_RATE;
    this.#lastStep = step;
    return repeated;
  }
}

/** @param length  in samples of a channel */
export function* silence(length: number, channels: number): Generator<Frames> {
  const most = SILENCE_MAX_SECONDS * SAMPLE_RATE;
  for (let at = 0; at < length; at += most) {
    yield { channels, samples: new Int16Array(Math.min(most, length - at) * channels) };
  }
}
