import sherpa from 'sherpa-onnx-node';
import { SAMPLE_RATE, type Segment } from '../engine.ts';
import { endWithParent, serveParent } from '../process/child-serve.ts';
import { level } from './level.ts';

export type VadSettings = { model: string };
type Vad = InstanceType<typeof sherpa.Vad>;

/** Samples per decision of Silero VAD: 32 ms. */
const WINDOW = 512;
/** Silero VAD detects speech two windows late. */
const LAG = 2 * WINDOW;
/** Probability thresholds: its authors' default, for where speech begins and ends, and one that speech reaches. */
const CLEAR = 0.5;
const SURE = 0.75;
/** Speech that is less than sure is speech so near to sure speech: "the" before a noun. */
const NEAR = SAMPLE_RATE;
/** Audio that is left out changes what the model makes of so much after it. */
const SETTLING = 16 * WINDOW;
/**
 * The model hears its first second or two without context, and takes the start of wind or of strings for speech: it is
 * given the start of the audio before, backwards. Of words of half a second it finds more so.
 */
const START = 62 * WINDOW;
// These values turn off the library's own smoothing and splitting: each window counts by itself.
const SHORTEST_SECONDS = 0.001;
const LONGEST_SECONDS = 1000;
const BUFFER_SECONDS = 60;

// The process that vad.ts starts: a damaged model aborts the process, and the calls are synchronous.
endWithParent();
await serveParent<VadSettings>(async ({ model }) => {
  const [clear, sure] = [openVad(model, CLEAR), openVad(model, SURE)];
  return async (piece) => {
    const samples = level(piece);
    return { segments: nearSureSpeech(sure, samples, findSpeech(clear, samples)), language: null };
  };
});

function openVad(model: string, threshold: number): Vad {
  const sileroVad = {
    model,
    threshold,
    windowSize: WINDOW,
    maxSpeechDuration: LONGEST_SECONDS,
    minSpeechDuration: SHORTEST_SECONDS,
    minSilenceDuration: SHORTEST_SECONDS,
  };
  return new sherpa.Vad(
    { sileroVad, sampleRate: SAMPLE_RATE, numThreads: 1, provider: 'cpu', debug: 0 },
    BUFFER_SECONDS,
  );
}

/** The intervals with speech, as segments without text. */
function findSpeech(vad: Vad, samples: Float32Array): Segment[] {
  giveStart(vad, samples);
  const intervals: Segment[] = [];
  let start: number | null = null;
  for (let at = 0; at + WINDOW <= samples.length; at += WINDOW) {
    if (isDetected(vad, samples, at)) start ??= Math.max(0, at - LAG);
    else if (start !== null) {
      intervals.push(interval(start, at - LAG));
      start = null;
    }
  }
  if (start !== null) intervals.push(interval(start, samples.length));
  return intervals;
}

/**
 * The intervals that are near sure speech. Of each, the model is given the audio up to the first sure speech only: that
 * is a quarter of continuous speech.
 */
function nearSureSpeech(vad: Vad, samples: Float32Array, found: Segment[]): Segment[] {
  if (found.length > 0) giveStart(vad, samples);
  let next = 0;
  let sureAt = Number.NEGATIVE_INFINITY;
  return found.filter(({ startSeconds, endSeconds }) => {
    const [start, end] = [startSeconds * SAMPLE_RATE, endSeconds * SAMPLE_RATE];
    if (start < sureAt + NEAR) return true;
    const from = Math.max(next, Math.floor(Math.max(0, start - NEAR) / WINDOW) * WINDOW);
    next = Math.max(next, from - SETTLING);
    for (const last = Math.min(samples.length, end + NEAR) - WINDOW; next <= last; ) {
      const isSure = isDetected(vad, samples, next);
      next += WINDOW;
      if (!isSure || next <= from + LAG) continue;
      sureAt = next - LAG;
      return true;
    }
    return false;
  });
}

/** Whether there is speech, after one more window. */
function isDetected(vad: Vad, samples: Float32Array, at: number): boolean {
  vad.acceptWaveform(samples.subarray(at, at + WINDOW));
  // Discards the library's copies of the speech.
  while (!vad.isEmpty()) vad.pop();
  return vad.isDetected();
}

function giveStart(vad: Vad, samples: Float32Array): void {
  vad.reset();
  for (let at = 0; at < START; at += WINDOW) vad.acceptWaveform(startOf(samples, at));
}

/**
 * A window of the start of the audio backwards, which ends where the audio begins: a pause stays one. Short audio goes
 * to and fro.
 */
function startOf(samples: Float32Array, at: number): Float32Array {
  const { length } = samples;
  return Float32Array.from({ length: WINDOW }, (_, offset) => {
    const distance = (START - 1 - at - offset) % (2 * length);
    return samples[distance < length ? distance : 2 * length - 1 - distance]!;
  });
}

function interval(start: number, end: number): Segment {
  const [startSeconds, endSeconds] = [start / SAMPLE_RATE, end / SAMPLE_RATE];
  return { text: '', startSeconds, endSeconds, confidence: null, words: [] };
}
