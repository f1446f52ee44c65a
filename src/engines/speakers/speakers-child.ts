import fs from 'node:fs';
import sherpa from 'sherpa-onnx-node';
import addon from 'sherpa-onnx-node/addon.js';
import type { SpeakerThresholds } from '../../models/model.ts';
import { mergeVoices, unitVector } from '../../rules/speakers/merge-voices.ts';
import {
  renumberTurns,
  type SpeakerBounds,
  soloParts,
  TURN_PAUSE_SECONDS,
  type Turn,
} from '../../rules/speakers/turn.ts';
import { SAMPLE_RATE } from '../engine.ts';
import { endWithParent, openAnswers } from '../process/child-serve.ts';

export type SpeakerOrder = {
  /** Paths of the models. */
  segmentation: string;
  embedding: string;
  thresholds: SpeakerThresholds;
  bounds: SpeakerBounds;
  /** Length of the audio, which descriptor 4 holds as 16-bit samples. */
  samples: number;
  /** The audio is divided into blocks of at most this length. */
  blockMaxSeconds: number;
};

export type SpeakerAnswer =
  /** 0 to 1; may fall when a second pass is needed. */
  { kind: 'progress'; share: number } | { kind: 'done'; turns: Turn[]; isUncertain: boolean };

/** A voice of one block; voices of several blocks may be one speaker. */
type BlockVoice = { seconds: number; centroid: number[] };
type Found = { turns: Turn[]; voices: BlockVoice[] };

const AUDIO_FD = 4;
const BYTES_PER_SAMPLE = 2;
const READ_SAMPLES = 2 ** 19;
// A window of 10 s starts every 2.5 s. The library's default of 1 s takes two and a half times as long.
const WINDOW_SHIFT_RATIO = 0.25;
const TURN_MIN_SECONDS = 0.2;
const CENTROID_MAX_SECONDS = 20;

// The process that speakers.ts starts for one recording: damaged models and some audio abort it.
const answer = openAnswers<SpeakerAnswer>();
endWithParent();
process.stdin.resume();
const order = JSON.parse(process.argv[2]!) as SpeakerOrder;
const models = {
  segmentation: { pyannote: { model: order.segmentation, windowShiftRatio: WINDOW_SHIFT_RATIO }, ...runtime() },
  embedding: { model: order.embedding, ...runtime() },
};
const diarization = new sherpa.OfflineSpeakerDiarization({
  ...models,
  clustering: clusteringBy(null),
  minDurationOn: TURN_MIN_SECONDS,
  minDurationOff: TURN_PAUSE_SECONDS,
});
const extractor = new sherpa.SpeakerEmbeddingExtractor(models.embedding);
const blockCount = Math.ceil(order.samples / (order.blockMaxSeconds * SAMPLE_RATE));
const block = new Float32Array(Math.ceil(order.samples / blockCount));
await answer({ kind: 'done', ...(await findSpeakers(order)) });

function runtime() {
  return { numThreads: 1, provider: 'cpu', debug: 0 };
}

/** By the number of voices, or by the distance of their embeddings. */
function clusteringBy(voiceCount: number | null) {
  return { numClusters: voiceCount ?? -1, threshold: order.thresholds.cluster };
}

async function findSpeakers({ bounds, thresholds }: SpeakerOrder): Promise<{ turns: Turn[]; isUncertain: boolean }> {
  const isExact = bounds.min === bounds.max;
  let found = await findVoices(isExact ? bounds.max : null);
  let merged = mergeVoices(found.voices, isExact ? bounds : { min: 1, max: bounds.max }, thresholds.join);
  if (!isExact && countOf(merged.speakerOf) < bounds.min) {
    found = await findVoices(bounds.min);
    merged = mergeVoices(found.voices, bounds, thresholds.join);
  }
  const isShort = found.turns.length > 0 && countOf(merged.speakerOf) < bounds.min;
  const turns = renumberTurns(found.turns, (voice) => merged.speakerOf[voice]!);
  return { turns, isUncertain: merged.wasAbsorbed || isShort };
}

function countOf(speakers: number[]): number {
  return new Set(speakers).size;
}

/** The voices of all blocks. @param voiceCount  how many each block is divided into; null to find out */
async function findVoices(voiceCount: number | null): Promise<Found> {
  const found: Found = { turns: [], voices: [] };
  for (let index = 0; index < blockCount; index++) {
    const from = Math.round((order.samples * index) / blockCount);
    const end = Math.round((order.samples * (index + 1)) / blockCount);
    const samples = readBlock(from, end);
    const onProgress = (share: number) => void answer({ kind: 'progress', share: (index + share) / blockCount });
    let turns = await findTurns(samples, voiceCount, onProgress);
    // For fewer parts of speech than voices the library gives one voice.
    if (voiceCount !== null && voiceCount > 1 && countOf(turns.map(({ voice }) => voice)) === 1) {
      turns = await findTurns(samples, null, onProgress);
    }
    addBlock(found, turns, samples, from / SAMPLE_RATE);
  }
  return found;
}

/** Reads samples of the audio into the block. */
function readBlock(from: number, end: number): Float32Array {
  const bytes = Buffer.alloc(READ_SAMPLES * BYTES_PER_SAMPLE);
  for (let at = from; at < end; ) {
    const wanted = Math.min(READ_SAMPLES, end - at) * BYTES_PER_SAMPLE;
    const read = fs.readSync(AUDIO_FD, bytes, 0, wanted, at * BYTES_PER_SAMPLE);
    const count = Math.floor(read / BYTES_PER_SAMPLE);
    if (count === 0) throw new Error('the audio is shorter than was said');
    for (let i = 0; i < count; i++) block[at - from + i] = bytes.readInt16LE(i * BYTES_PER_SAMPLE) / 32_768;
    at += count;
  }
  return block.subarray(0, end - from);
}

async function findTurns(
  samples: Float32Array,
  voiceCount: number | null,
  onProgress: (share: number) => void,
): Promise<Turn[]> {
  diarization.setConfig({ clustering: clusteringBy(voiceCount) });
  const found = await addon.offlineSpeakerDiarizationProcessAsync(diarization.handle, samples, (done, total) => {
    onProgress(done / total);
  });
  const seconds = samples.length / SAMPLE_RATE;
  // The last turn in audio of up to 10 s may end after it.
  return found.map(({ start, end, speaker }) => {
    return { startSeconds: start, endSeconds: Math.min(end, seconds), voice: speaker };
  });
}

/** Adds the turns of a block; its voices get the numbers after those of earlier blocks. */
function addBlock(found: Found, turns: Turn[], samples: Float32Array, offsetSeconds: number): void {
  const byVoice = Map.groupBy(turns, ({ voice }) => voice);
  const solo = Map.groupBy(soloParts(turns), ({ voice }) => voice);
  for (const [voice, own] of byVoice) {
    const number = found.voices.length;
    const seconds = own.reduce((sum, { startSeconds, endSeconds }) => sum + endSeconds - startSeconds, 0);
    found.voices.push({ seconds, centroid: centroidOf(solo.get(voice) ?? own, samples) });
    for (const { startSeconds, endSeconds } of own) {
      const shifted = { startSeconds: startSeconds + offsetSeconds, endSeconds: endSeconds + offsetSeconds };
      found.turns.push({ ...shifted, voice: number });
    }
  }
}

/** The embedding of a voice's longest parts. */
function centroidOf(parts: Turn[], samples: Float32Array): number[] {
  const stream = extractor.createStream();
  let leftSamples = CENTROID_MAX_SECONDS * SAMPLE_RATE;
  for (const { startSeconds, endSeconds } of parts.toSorted((one, other) => lengthOf(other) - lengthOf(one))) {
    const from = Math.round(startSeconds * SAMPLE_RATE);
    const part = samples.slice(from, Math.min(Math.round(endSeconds * SAMPLE_RATE), from + leftSamples));
    if (part.length > 0) stream.acceptWaveform({ samples: part, sampleRate: SAMPLE_RATE });
    leftSamples -= part.length;
    if (leftSamples <= 0) break;
  }
  stream.inputFinished();
  return extractor.isReady(stream) ? unitVector(extractor.compute(stream)) : [];
}

function lengthOf({ startSeconds, endSeconds }: Turn): number {
  return endSeconds - startSeconds;
}
