import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { type Random, randomFrom } from '../../../test/fixtures/random.ts';
import { SPEECH_MODEL, withSpeechModel } from '../../../test/fixtures/speech-model.ts';
import { ROOT } from '../../platform/installation.ts';
import { clipTo, type Interval, totalSeconds } from '../../rules/transcript/intervals.ts';
import { type Pcm, SAMPLE_RATE } from '../engine.ts';
import { openFindSpeech } from './find-speech.ts';
import { readTensors } from './silero/tensors.ts';

const MODEL = path.join(path.dirname(SPEECH_MODEL), 'silero-vad', 'silero_vad.onnx');
const WAV_HEADER_BYTES = 44;
const LOUD_PEAK = 23_000;
const GAP = 0.3 * SAMPLE_RATE;
const SEED = 20_261_129;
const POSITIONS = ['before', 'between', 'after'] as const;
const ATTENUATIONS_DB = [0, 12, 24, 36, 42, 48];
const SHARE_MIN = 0.85;

async function openDetector() {
  return openFindSpeech(readTensors(await readFile(MODEL)));
}

async function clip(name: string, peak: number): Promise<Pcm> {
  const bytes = (await readFile(path.join(ROOT, 'assets/speech', `${name}.wav`))).subarray(WAV_HEADER_BYTES);
  return withPeak(
    Int16Array.from({ length: bytes.length >> 1 }, (_, at) => bytes.readInt16LE(2 * at)),
    peak,
  );
}

function withPeak(sound: Pcm | Float64Array, peak: number): Pcm {
  let loudest = 1e-9;
  for (const sample of sound) loudest = Math.max(loudest, Math.abs(sample));
  return Int16Array.from(sound, (sample) => (sample * peak) / loudest);
}

/** The audio, and where the middle of it is. */
function beside(position: (typeof POSITIONS)[number], middle: Pcm, loud: Pcm): { audio: Pcm; part: Interval } {
  const pause = new Int16Array(GAP);
  const before = position === 'before' ? [] : [loud, pause];
  const after = position === 'after' ? [] : [pause, loud];
  const startSeconds = before.reduce((sum, { length }) => sum + length, 0) / SAMPLE_RATE;
  const audio = Int16Array.from([...before, middle, ...after].flatMap((part) => [...part]));
  return { audio, part: { startSeconds, endSeconds: startSeconds + middle.length / SAMPLE_RATE } };
}

for (const decibels of ATTENUATIONS_DB) {
  test(`a voice ${decibels} dB below louder ones is found`, withSpeechModel, async () => {
    const find = await openDetector();
    const loud = await clip('librivox-0870', LOUD_PEAK);
    for (const name of ['librivox-0930', 'librivox-0890']) {
      const quiet = await clip(name, LOUD_PEAK / 10 ** (decibels / 20));
      const alone = totalSeconds(find(quiet));
      for (const position of POSITIONS) {
        const { audio, part } = beside(position, quiet, loud);
        const share = totalSeconds(clipTo(part, find(audio))) / alone;
        assert.ok(share >= SHARE_MIN, `${share} of ${name} ${position} loud speech is found`);
      }
    }
  });
}

for (const decibels of [12, 36]) {
  test(`noise ${decibels} dB below speech is not taken for speech`, withSpeechModel, async () => {
    const find = await openDetector();
    const loud = await clip('librivox-0870', LOUD_PEAK);
    for (const noise of [whiteNoise, rumble]) {
      const quiet = withPeak(noise(randomFrom(SEED)), LOUD_PEAK / 10 ** (decibels / 20));
      for (const position of POSITIONS) {
        const { audio, part } = beside(position, quiet, loud);
        const inside = { startSeconds: part.startSeconds + 0.5, endSeconds: part.endSeconds - 0.5 };
        assert.deepEqual(clipTo(inside, find(audio)), [], `${noise.name} ${position} speech`);
      }
    }
  });
}

function whiteNoise(random: Random): Float64Array {
  return Float64Array.from({ length: 6 * SAMPLE_RATE }, () => random.next() - 0.5);
}

function rumble(random: Random): Float64Array {
  let held = 0;
  return Float64Array.from({ length: 6 * SAMPLE_RATE }, () => (held = 0.99 * held + random.next() - 0.5));
}
