import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import sherpa from 'sherpa-onnx-node';
import { openTestFolder } from '../../../../test/fixtures/audio/test-audio.ts';
import { SPEECH_MODEL, withSpeechModel } from '../../../../test/fixtures/speech-model.ts';
import { ROOT } from '../../../platform/installation.ts';
import { SAMPLE_RATE } from '../../engine.ts';
import { halveRate } from '../half-rate.ts';
import { NARROW, openNetwork, type Variant, WIDE } from './network.ts';
import { Smoothed } from './smoothed.ts';
import { readTensors } from './tensors.ts';

const MODEL = path.join(path.dirname(SPEECH_MODEL), 'silero-vad', 'silero_vad.onnx');
const CLIPS = ['librivox-0880', 'librivox-0930'];
const WAV_HEADER_BYTES = 44;
const FULL_SCALE = 32_768;

async function clip(name: string): Promise<Float32Array> {
  const bytes = (await readFile(path.join(ROOT, 'assets/speech', `${name}.wav`))).subarray(WAV_HEADER_BYTES);
  return Float32Array.from({ length: bytes.length >> 1 }, (_, at) => bytes.readInt16LE(2 * at) / FULL_SCALE);
}

function decisionsOf(model: Buffer, variant: Variant, threshold: number, samples: Float32Array): string {
  const network = openNetwork(readTensors(model), variant);
  const smoothed = new Smoothed(threshold);
  const windows = Array.from({ length: Math.floor(samples.length / variant.window) }, (_, at) =>
    smoothed.next(network.probability(samples, at * variant.window)),
  );
  return windows.map((isSpeech) => (isSpeech ? '+' : '-')).join('');
}

/** The same by ONNX Runtime and sherpa-onnx. */
function decisionsOfLibrary(file: string, { window }: Variant, threshold: number, samples: Float32Array): string {
  const durations = { minSpeechDuration: 0.001, minSilenceDuration: 0.001, maxSpeechDuration: 1000 };
  const sileroVad = { model: file, threshold, windowSize: window, ...durations };
  const vad = new sherpa.Vad({ sileroVad, sampleRate: SAMPLE_RATE, numThreads: 1, provider: 'cpu', debug: 0 }, 60);
  const windows = Array.from({ length: Math.floor(samples.length / window) }, (_, at) => {
    vad.acceptWaveform(samples.subarray(at * window, (at + 1) * window));
    while (!vad.isEmpty()) vad.pop();
    return vad.isDetected();
  });
  return windows.map((isSpeech) => (isSpeech ? '+' : '-')).join('');
}

/** Sherpa-onnx says always that there are 16,000 samples per second: the model compares with another number. */
function withNarrowNetwork(model: Buffer): Buffer {
  const changed = Buffer.from(model);
  const at = model.indexOf(Buffer.from('803e000000000000', 'hex'));
  changed.writeBigInt64LE(1n, at);
  return changed;
}

test('the wide network decides as ONNX Runtime does', withSpeechModel, async () => {
  const model = await readFile(MODEL);
  for (const name of CLIPS) {
    const samples = await clip(name);
    for (const threshold of [0.3, 0.5, 0.9]) {
      const decisions = decisionsOf(model, WIDE, threshold, samples);
      assert.equal(decisions, decisionsOfLibrary(MODEL, WIDE, threshold, samples));
      assert.match(decisions, /\+-/);
    }
  }
});

test('the narrow network decides as ONNX Runtime does', withSpeechModel, async () => {
  await using folder = await openTestFolder();
  const model = await readFile(MODEL);
  const file = path.join(folder.path, 'narrow.onnx');
  await writeFile(file, withNarrowNetwork(model));
  for (const name of CLIPS) {
    const samples = halveRate(await clip(name));
    for (const threshold of [0.3, 0.5, 0.9]) {
      const decisions = decisionsOf(model, NARROW, threshold, samples);
      assert.equal(decisions, decisionsOfLibrary(file, NARROW, threshold, samples));
      assert.match(decisions, /\+/);
    }
  }
});
