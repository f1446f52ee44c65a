import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { humming, longVowel, sungVowel, violin } from '../../../test/speech/sounds.ts';
import { ROOT } from '../../platform/installation.ts';
import { SAMPLE_RATE } from '../engine.ts';
import { changesAsSpeech } from './sound-change.ts';

const WAV_HEADER_BYTES = 44;
const FULL_SCALE = 32_768;

async function clip(name: string): Promise<Float32Array> {
  const bytes = (await readFile(path.join(ROOT, 'assets/speech', `${name}.wav`))).subarray(WAV_HEADER_BYTES);
  return Float32Array.from({ length: bytes.length >> 1 }, (_, at) => bytes.readInt16LE(2 * at) / FULL_SCALE);
}

test('the sound of speech changes, whole or a second of it', async () => {
  const speech = await clip('librivox-0930');
  const seconds = [0, 1, 2].map((from) => speech.subarray(from * SAMPLE_RATE, (from + 1) * SAMPLE_RATE));

  for (const part of [speech, ...seconds]) assert.ok(changesAsSpeech(part));
});

test('held notes and vowels do not change, at any loudness', () => {
  for (const sound of [longVowel, sungVowel, humming, violin]) {
    const samples = Float32Array.from(sound(3, 4));
    assert.ok(!changesAsSpeech(samples));
    assert.ok(!changesAsSpeech(samples.map((sample) => sample / 1000)));
  }
});

test('speech within a long note is found', async () => {
  const speech = await clip('librivox-0880');
  const note = Float32Array.from(longVowel(5, 1), (sample) => sample / 20);
  const all = new Float32Array(2 * note.length + speech.length);
  for (const [from, part] of [
    [0, note],
    [note.length, speech],
    [note.length + speech.length, note],
  ] as const)
    all.set(part, from);

  assert.ok(changesAsSpeech(all));
});

test('of silence and of a sound of 0.3 s nothing is known', () => {
  assert.ok(changesAsSpeech(new Float32Array(SAMPLE_RATE)));
  assert.ok(changesAsSpeech(Float32Array.from(longVowel(1, 1)).subarray(0, 0.3 * SAMPLE_RATE)));
  assert.ok(changesAsSpeech(new Float32Array(0)));
});
