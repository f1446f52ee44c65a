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
/**
 * Probability thresholds: its authors' default for clear speech, and one for faint speech that noise rarely reaches.
 */
const CLEAR = 0.5;
const FAINT = 0.3;
// These values turn off the library's own smoothing and splitting: each window counts by itself.
const SHORTEST_SECONDS = 0.001;
const LONGEST_SECONDS = 1000;
const BUFFER_SECONDS = 60;

// The process that vad.ts starts: a damaged model aborts the process, and the calls are synchronous.
endWithParent();
await serveParent<VadSettings>(async ({ model }) => {
  const clear = openVad(model, CLEAR);
  const faint = openVad(model, FAINT);
  return async (piece) => {
    const samples = level(piece);
    const found = findSpeech(clear, samples);
    return { segments: found.length > 0 ? found : findSpeech(faint, samples), language: null };
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
  vad.reset();
  const intervals: Segment[] = [];
  let start: number | null = null;
  for (let at = 0; at + WINDOW <= samples.length; at += WINDOW) {
    vad.acceptWaveform(samples.slice(at, at + WINDOW));
    // Discards the library's copies of the speech.
    while (!vad.isEmpty()) vad.pop();
    const isSpeech = vad.isDetected();
    if (isSpeech) start ??= Math.max(0, at - LAG);
    else if (start !== null) {
      intervals.push(interval(start, at - LAG));
      start = null;
    }
  }
  if (start !== null) intervals.push(interval(start, samples.length));
  return intervals;
}

function interval(start: number, end: number): Segment {
  const [startSeconds, endSeconds] = [start / SAMPLE_RATE, end / SAMPLE_RATE];
  return { text: '', startSeconds, endSeconds, confidence: null, words: [] };
}
