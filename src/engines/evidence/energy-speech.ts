import { framePower, LiveSegments } from '../../rules/live/live-segments.ts';
import type { Interval } from '../../rules/transcript/intervals.ts';
import type { Pcm } from '../engine.ts';

const FRAME = 160;
const FRAMES_PER_SECOND = 100;
const PAUSE_MS = 300;

/**
 * The parts of a piece that are 10 dB louder than its background: where a voice detector is missing, these are probably
 * the speech. Noise that comes and goes is among them, and speech under loud noise is not.
 */
export function findLoudParts(piece: Pcm): Interval[] {
  const segments = new LiveSegments({ endpointingMs: PAUSE_MS, maxSegmentSeconds: Number.POSITIVE_INFINITY });
  const found: Interval[] = [];
  for (let at = 0; at + FRAME <= piece.length; at += FRAME) {
    for (const change of segments.push(framePower(piece.subarray(at, at + FRAME)))) {
      if (change.kind === 'end') found.push(secondsOf(change));
    }
  }
  const last = segments.end('finish');
  return last?.kind === 'end' ? [...found, secondsOf(last)] : found;
}

function secondsOf({ start, end }: { start: number; end: number }): Interval {
  return { startSeconds: start / FRAMES_PER_SECOND, endSeconds: end / FRAMES_PER_SECOND };
}
