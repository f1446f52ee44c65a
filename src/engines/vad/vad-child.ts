import sherpa from 'sherpa-onnx-node';
import { SAMPLE_RATE, type Segment } from '../engine.ts';
import { endWithParent, serveParent } from '../process/child-serve.ts';
import { level } from './level.ts';
import { halveRate, openNarrowband } from './narrowband.ts';
import { changesAsSpeech } from './sound-change.ts';

export type VadSettings = { model: string };
/** A network of Silero VAD; `window` is the number of samples per decision, which covers 32 ms. */
type Network = { vad: InstanceType<typeof sherpa.Vad>; window: number };

const WINDOW = 512;
const NARROW_WINDOW = WINDOW / 2;
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
// These values turn off the library's own smoothing and splitting: each window counts by itself.
const SHORTEST_SECONDS = 0.001;
const LONGEST_SECONDS = 1000;
const BUFFER_SECONDS = 60;

// The process that vad.ts starts: a damaged model aborts the process, and the calls are synchronous.
endWithParent();
await serveParent<VadSettings>(async ({ model }) => {
  const wide = openNetwork(model, WINDOW, CLEAR);
  const narrow = openNarrowband(model, (copy) => openNetwork(copy, NARROW_WINDOW, SURE));
  return async (piece) => {
    const samples = level(piece);
    const found = findSpeech(wide, samples).filter((interval) => changesAsSpeech(aroundOf(samples, interval)));
    const sure = found.length === 0 ? [] : nearSureSpeech(narrow, halveRate(samples), found);
    return { segments: sure, language: null };
  };
});

function openNetwork(model: string, window: number, threshold: number): Network {
  const sileroVad = {
    model,
    threshold,
    windowSize: window,
    maxSpeechDuration: LONGEST_SECONDS,
    minSpeechDuration: SHORTEST_SECONDS,
    minSilenceDuration: SHORTEST_SECONDS,
  };
  // The library takes no other rate, and needs it for lengths only.
  const config = { sileroVad, sampleRate: SAMPLE_RATE, numThreads: 1, provider: 'cpu', debug: 0 };
  return { vad: new sherpa.Vad(config, BUFFER_SECONDS), window };
}

function aroundOf(samples: Float32Array, { startSeconds, endSeconds }: Segment): Float32Array {
  const [from, to] = [startSeconds / WINDOW_SECONDS - NEAR, endSeconds / WINDOW_SECONDS + NEAR];
  return samples.subarray(Math.max(0, Math.round(from * WINDOW)), Math.round(to * WINDOW));
}

/** The intervals with speech, as segments without text. */
function findSpeech(network: Network, samples: Float32Array): Segment[] {
  giveStart(network, samples);
  const intervals: Segment[] = [];
  const windows = Math.floor(samples.length / network.window);
  let start: number | null = null;
  for (let at = 0; at < windows; at += 1) {
    if (isDetected(network, samples, at)) start ??= Math.max(0, at - LAG);
    else if (start !== null) {
      intervals.push(intervalOf(start * WINDOW_SECONDS, (at - LAG) * WINDOW_SECONDS));
      start = null;
    }
  }
  if (start !== null) intervals.push(intervalOf(start * WINDOW_SECONDS, samples.length / SAMPLE_RATE));
  return intervals;
}

/**
 * The intervals that are near sure speech. Of each, the model is given the audio up to the first sure speech only: that
 * is a quarter of continuous speech.
 */
function nearSureSpeech(network: Network, samples: Float32Array, found: Segment[]): Segment[] {
  giveStart(network, samples);
  const windows = Math.floor(samples.length / network.window);
  let next = 0;
  let sureAt = Number.NEGATIVE_INFINITY;
  return found.filter(({ startSeconds, endSeconds }) => {
    const [start, end] = [startSeconds, endSeconds].map((seconds) => Math.round(seconds / WINDOW_SECONDS));
    if (start! < sureAt + NEAR) return true;
    const from = Math.max(next, start! - NEAR);
    next = Math.max(next, from - SETTLING);
    for (const last = Math.min(windows, end! + NEAR) - 1; next <= last; ) {
      const isSure = isDetected(network, samples, next);
      next += 1;
      if (!isSure || next <= from + LAG) continue;
      sureAt = next - LAG;
      return true;
    }
    return false;
  });
}

/** Whether there is speech, after one more window. */
function isDetected({ vad, window }: Network, samples: Float32Array, at: number): boolean {
  vad.acceptWaveform(samples.subarray(at * window, (at + 1) * window));
  // Discards the library's copies of the speech.
  while (!vad.isEmpty()) vad.pop();
  return vad.isDetected();
}

function giveStart({ vad, window }: Network, samples: Float32Array): void {
  vad.reset();
  // At once: whether a window of it is speech does not matter.
  vad.acceptWaveform(startOf(samples, START * window));
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

function intervalOf(startSeconds: number, endSeconds: number): Segment {
  return { text: '', startSeconds, endSeconds, confidence: null, words: [] };
}
