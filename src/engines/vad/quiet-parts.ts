import type { Interval } from '../../rules/transcript/intervals.ts';
import { type Pcm, SAMPLE_RATE } from '../engine.ts';
import { peakOf } from './level.ts';

/** Half of the loudest sample: from 12 dB below loud speech on, the model misses some voices beside it. */
const QUIETER = 1 / 2;
/** 66 dB below full scale there is no speech. */
const PEAK_MIN = 16;
const SHORTEST_SECONDS = 1;
/** The end of a word that is not detected as speech, and what a room makes of it. */
const EDGE_SECONDS = 0.1;

/**
 * The parts without detected speech that are clearly quieter than the loudest one, where speech may have been missed:
 * the model expects the loudness that it has just heard.
 */
export function quietParts(piece: Pcm, speech: readonly Interval[]): Interval[] {
  const endSeconds = piece.length / SAMPLE_RATE;
  const quiet = peakOf(piece, 0, piece.length) * QUIETER;
  return [...speech, { startSeconds: endSeconds + EDGE_SECONDS, endSeconds }]
    .map((next, index) => ({
      startSeconds: index === 0 ? 0 : speech[index - 1]!.endSeconds + EDGE_SECONDS,
      endSeconds: next.startSeconds - EDGE_SECONDS,
    }))
    .filter((part) => {
      if (part.endSeconds - part.startSeconds < SHORTEST_SECONDS) return false;
      const peak = peakOf(
        piece,
        Math.round(part.startSeconds * SAMPLE_RATE),
        Math.round(part.endSeconds * SAMPLE_RATE),
      );
      return peak >= PEAK_MIN && peak <= quiet;
    });
}
