import type { Interval } from '../../rules/transcript/intervals.ts';
import { type Pcm, SAMPLE_RATE } from '../engine.ts';

/**
 * Energy is measured in frames of 10 ms. A cut needs a window of 20 frames, which is longer than the closure of a "t".
 */
const FRAME = SAMPLE_RATE / 100;
const FRAMES_PER_WINDOW = 20;
/**
 * Factor on the energy of a window full of detected speech;
 * with a larger one the detector's errors would outweigh the energy.
 */
const SPEECH_FACTOR = 2;

/**
 * The sample in the middle of the quietest window of 200 ms between two samples, where windows with detected speech
 * count as louder; the latest of equal windows, so that silence gives long pieces. The middle of a shorter range.
 * Source: docs/decisions/0006-cutting-long-audio.md
 * @param speech  in seconds from the start of the samples
 */
export function quietestPlace(samples: Pcm, range: { from: number; to: number }, speech: readonly Interval[]): number {
  const { from, to } = range;
  const frames = Array.from({ length: Math.floor((to - from) / FRAME) }, (_, frame) => ({
    energy: energyOf(samples, from + frame * FRAME),
    isSpeech: isInside(speech, (from + frame * FRAME) / SAMPLE_RATE),
  }));
  if (frames.length < FRAMES_PER_WINDOW) return Math.round((from + to) / 2);
  let quietest = { loudness: Number.POSITIVE_INFINITY, frame: 0 };
  for (let frame = 0; frame + FRAMES_PER_WINDOW <= frames.length; frame += 1) {
    const loudness = loudnessOf(frames.slice(frame, frame + FRAMES_PER_WINDOW));
    if (loudness <= quietest.loudness) quietest = { loudness, frame };
  }
  return from + (quietest.frame + FRAMES_PER_WINDOW / 2) * FRAME;
}

function loudnessOf(frames: { energy: number; isSpeech: boolean }[]): number {
  const energy = frames.reduce((sum, frame) => sum + frame.energy, 0);
  const speechShare = frames.filter(({ isSpeech }) => isSpeech).length / frames.length;
  return energy * SPEECH_FACTOR ** speechShare;
}

function isInside(intervals: readonly Interval[], seconds: number): boolean {
  return intervals.some(({ startSeconds, endSeconds }) => seconds >= startSeconds && seconds < endSeconds);
}

/**
 * The energy of a frame in the band of speech: the difference between pairs of samples filters out the rumble of
 * engines and wind below that band, and much of the hiss above it.
 */
function energyOf(samples: Pcm, from: number): number {
  let energy = 0;
  for (let at = Math.max(2, from); at < from + FRAME; at += 2) {
    energy += (samples[at]! + samples[at + 1]! - samples[at - 1]! - samples[at - 2]!) ** 2;
  }
  return energy;
}
