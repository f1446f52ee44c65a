import sherpa from 'sherpa-onnx-node';
import type { Pcm, Segment } from '../engine.ts';
import { SAMPLE_RATE } from '../engine.ts';
import { endWithParent, serveParent } from '../process/child-serve.ts';

export type VadSettings = { model: string };
type Vad = InstanceType<typeof sherpa.Vad>;

/** What Silero VAD judges at once. */
const WINDOW = 512;
/** It is sure of a sound only two windows later. */
const LAG = 2 * WINDOW;
/** How sure it must be: clear speech by its makers' default, and faint speech, which noise seldom reaches. */
const CLEAR = 0.5;
const FAINT = 0.3;
// Each window is to be judged for itself, and whatever would split long speech is to stay out of the way.
const SHORTEST_SECONDS = 0.001;
const LONGEST_SECONDS = 1000;
const BUFFER_SECONDS = 60;
// It hears no word in speech some 40 dB under the usual; louder noise is no more like speech to it than faint noise.
const PEAK_MIN = 6000 / 32_768;

// Run as a process of its own by vad.ts: a broken model ends the whole process, and a working one is synchronous.
endWithParent();
await serveParent<VadSettings>(async ({ model }) => {
  const clear = openVad(model, CLEAR);
  const faint = openVad(model, FAINT);
  return async (piece) => {
    const samples = loud(piece);
    const heard = stretchesOf(clear, samples);
    return { segments: heard.length > 0 ? heard : stretchesOf(faint, samples), language: null };
  };
});

function openVad(model: string, threshold: number): Vad {
  const sileroVad = {
    ...{ model, threshold, windowSize: WINDOW, maxSpeechDuration: LONGEST_SECONDS },
    ...{ minSpeechDuration: SHORTEST_SECONDS, minSilenceDuration: SHORTEST_SECONDS },
  };
  return new sherpa.Vad(
    { sileroVad, sampleRate: SAMPLE_RATE, numThreads: 1, provider: 'cpu', debug: 0 },
    BUFFER_SECONDS,
  );
}

function loud(piece: Pcm): Float32Array {
  const peak = piece.reduce((most, sample) => Math.max(most, Math.abs(sample)), 1) / 32_768;
  const scale = Math.max(1, PEAK_MIN / peak) / 32_768;
  return Float32Array.from(piece, (sample) => sample * scale);
}

/** Segments without text: from where to where there is speech. */
function stretchesOf(vad: Vad, samples: Float32Array): Segment[] {
  vad.reset();
  const stretches: Segment[] = [];
  let start: number | null = null;
  for (let at = 0; at + WINDOW <= samples.length; at += WINDOW) {
    vad.acceptWaveform(samples.slice(at, at + WINDOW));
    // The speech itself, which it keeps for us.
    while (!vad.isEmpty()) vad.pop();
    const isSpeech = vad.isDetected();
    if (isSpeech) start ??= Math.max(0, at - LAG);
    else if (start !== null) {
      stretches.push(stretch(start, at - LAG));
      start = null;
    }
  }
  if (start !== null) stretches.push(stretch(start, samples.length));
  return stretches;
}

function stretch(start: number, end: number): Segment {
  const [startSeconds, endSeconds] = [start / SAMPLE_RATE, end / SAMPLE_RATE];
  return { text: '', startSeconds, endSeconds, confidence: null, words: [] };
}
