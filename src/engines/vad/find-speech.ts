import { type Interval, shiftBy } from '../../rules/transcript/intervals.ts';
import { type Pcm, SAMPLE_RATE } from '../engine.ts';
import { halveRate } from './half-rate.ts';
import { level } from './level.ts';
import { quietParts } from './quiet-parts.ts';
import { NARROW, type Network, openNetwork, WIDE } from './silero/network.ts';
import { Smoothed } from './silero/smoothed.ts';
import type { Tensors } from './silero/tensors.ts';
import { changesAsSpeech } from './sound-change.ts';

/** A network and what is made of its probabilities. */
type Detector = { network: Network; smoothed: Smoothed };

const { window: WINDOW } = WIDE;
const WINDOW_SECONDS = WINDOW / SAMPLE_RATE;
/** In windows, as all that follows: Silero VAD detects speech so late. */
const LAG = 2;
/** The probability that its authors take for speech: where speech begins and ends. */
const CLEAR = 0.5;
/**
 * A probability that the narrow network has somewhere in speech: of 667 words of people one had less, and sentences in
 * noise as loud as they are had 0.92. Noise and music that deceive one network seldom deceive both.
 */
const SURE = 0.9;
/** Speech that is less than sure is speech so near to sure speech: "the" before a noun. A second. */
const NEAR = 31;
/** Audio that is left out changes what the model makes of so much after it. */
const SETTLING = 16;
/**
 * The model hears its first second or two without context, and takes the start of wind or of strings for speech: it is
 * given the start of the audio before, backwards. Of words of half a second it finds more so.
 */
const START = 62;

/**
 * A function that finds the intervals with speech in audio, in order. Quiet parts beside louder ones are given to the
 * model once more, as if they stood alone.
 * @param tensors  of Silero VAD
 */
export function openFindSpeech(tensors: Tensors): (piece: Pcm) => Interval[] {
  const wide = { network: openNetwork(tensors, WIDE), smoothed: new Smoothed(CLEAR) };
  const narrow = { network: openNetwork(tensors, NARROW), smoothed: new Smoothed(SURE) };
  function find(piece: Pcm): Interval[] {
    const samples = level(piece);
    const found = findSpeech(wide, samples).filter((interval) => changesAsSpeech(aroundOf(samples, interval)));
    return found.length === 0 ? [] : nearSureSpeech(narrow, halveRate(samples), found);
  }
  return (piece) => {
    const found = find(piece);
    const missed = quietParts(piece, found).flatMap(({ startSeconds, endSeconds }) => {
      const part = piece.subarray(Math.round(startSeconds * SAMPLE_RATE), Math.round(endSeconds * SAMPLE_RATE));
      return shiftBy(startSeconds, find(part));
    });
    return [...found, ...missed].toSorted((one, other) => one.startSeconds - other.startSeconds);
  };
}

function aroundOf(samples: Float32Array, { startSeconds, endSeconds }: Interval): Float32Array {
  const [from, to] = [startSeconds / WINDOW_SECONDS - NEAR, endSeconds / WINDOW_SECONDS + NEAR];
  return samples.subarray(Math.max(0, Math.round(from * WINDOW)), Math.round(to * WINDOW));
}

/** The intervals with speech, as segments without text. */
function findSpeech(detector: Detector, samples: Float32Array): Interval[] {
  giveStart(detector, samples);
  const intervals: Interval[] = [];
  const windows = Math.floor(samples.length / detector.network.window);
  let start: number | null = null;
  for (let at = 0; at < windows; at += 1) {
    if (isDetected(detector, samples, at)) start ??= Math.max(0, at - LAG);
    else if (start !== null) {
      intervals.push({ startSeconds: start * WINDOW_SECONDS, endSeconds: (at - LAG) * WINDOW_SECONDS });
      start = null;
    }
  }
  if (start !== null)
    intervals.push({ startSeconds: start * WINDOW_SECONDS, endSeconds: samples.length / SAMPLE_RATE });
  return intervals;
}

/**
 * The intervals that are near sure speech. Of each, the model is given the audio up to the first sure speech only: that
 * is a quarter of continuous speech.
 */
function nearSureSpeech(detector: Detector, samples: Float32Array, found: Interval[]): Interval[] {
  giveStart(detector, samples);
  const windows = Math.floor(samples.length / detector.network.window);
  let next = 0;
  let sureAt = Number.NEGATIVE_INFINITY;
  return found.filter(({ startSeconds, endSeconds }) => {
    const [start, end] = [startSeconds, endSeconds].map((seconds) => Math.round(seconds / WINDOW_SECONDS));
    if (start! < sureAt + NEAR) return true;
    const from = Math.max(next, start! - NEAR);
    next = Math.max(next, from - SETTLING);
    for (const last = Math.min(windows, end! + NEAR) - 1; next <= last; ) {
      const isSure = isDetected(detector, samples, next);
      next += 1;
      if (!isSure || next <= from + LAG) continue;
      sureAt = next - LAG;
      return true;
    }
    return false;
  });
}

/** Whether there is speech, after one more window. */
function isDetected({ network, smoothed }: Detector, samples: Float32Array, at: number): boolean {
  return smoothed.next(network.probability(samples, at * network.window));
}

function giveStart(detector: Detector, samples: Float32Array): void {
  const { network, smoothed } = detector;
  network.reset();
  smoothed.reset();
  const start = startOf(samples, START * network.window);
  for (let at = 0; at < START; at += 1) isDetected(detector, start, at);
}

/**
 * So many samples of the start of the audio backwards, which end where the audio begins: a pause stays one. Short audio
 * goes to and fro.
 */
function startOf(samples: Float32Array, count: number): Float32Array {
  const { length } = samples;
  const start = new Float32Array(count);
  for (let at = 0; at < count; at += 1) {
    const distance = (count - 1 - at) % (2 * length);
    start[at] = samples[distance < length ? distance : 2 * length - 1 - distance]!;
  }
  return start;
}
