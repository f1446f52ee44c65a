import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { openTestFolder } from '../../../test/fixtures/audio/test-audio.ts';
import { EngineError, type Pcm, SAMPLE_RATE } from '../engine.ts';
import { calibrate } from './calibrate.ts';
import { keptCalibration } from './kept-calibration.ts';
import { readSpeechSample, SAMPLE_SECONDS } from './speech-samples.ts';

const samples = await Promise.all(SAMPLE_SECONDS.map((seconds) => readSpeechSample(seconds)));
const spoken = (piece: Pcm) => samples.find(({ pcm }) => pcm.length === piece.length)!.text;

/** An engine that says something for a sample. */
function engineThat(says: (piece: Pcm, seconds: number) => string, languages: string[] | null = ['en']) {
  const given: number[] = [];
  return {
    languages,
    given,
    async transcribe(piece: Pcm) {
      const endSeconds = piece.length / SAMPLE_RATE;
      given.push(endSeconds);
      const text = says(piece, endSeconds);
      return { language: null, segments: [{ text, startSeconds: 0, endSeconds, confidence: null, words: [] }] };
    },
  };
}

test('a model that gives the words of the longest sample has no limit, and one call shows it', async () => {
  const engine = engineThat(spoken);

  assert.deepEqual(await calibrate(engine), { isCalibrated: true, maxPieceSeconds: null });
  assert.deepEqual(engine.given, [29]);
});

test('the limit is the longest sample of which a model gives the words', async () => {
  const silent = engineThat((piece, seconds) => (seconds > 9.2 ? '' : spoken(piece)));
  const cut = engineThat((piece, seconds) => spoken(piece).slice(0, seconds > 20 ? 60 : 1000));
  const failing = engineThat((piece, seconds) => {
    if (seconds > 12) throw new EngineError('engine_error', 'too long');
    return spoken(piece);
  });

  const limits = await Promise.all([silent, cut, failing].map(async (one) => (await calibrate(one)).maxPieceSeconds));

  assert.deepEqual(limits, [9, 20, 12]);
});

test('a model that gives no words of speech is not calibrated, and has no limit', async () => {
  assert.deepEqual(await calibrate(engineThat(() => 'eeoaeo')), { isCalibrated: false, maxPieceSeconds: null });
});

test('of a model that knows no English any text counts', async () => {
  const german = engineThat((_, seconds) => (seconds > 12 ? '' : 'und so'), ['de']);

  assert.deepEqual(await calibrate(german), { isCalibrated: true, maxPieceSeconds: 12 });
});

test('an engine that does not start is not judged', async () => {
  const absent = engineThat(() => {
    throw new EngineError('engine_error', 'no process', { failure: { kind: 'start' } });
  });

  await assert.rejects(calibrate(absent), /no process/);
});

test('a calibration is kept for the files of a model, and made anew for others', async () => {
  await using folder = await openTestFolder();
  const model = await folder.write('model.onnx', 'weights');
  await mkdir(path.join(folder.path, 'test_wavs'));
  const files = [model, path.join(folder.path, 'test_wavs')];
  let made = 0;
  const calibration = { isCalibrated: true, maxPieceSeconds: 9 };
  const find = () =>
    keptCalibration(folder.path, files, async () => {
      made += 1;
      return calibration;
    });

  assert.deepEqual([await find(), await find(), made], [calibration, calibration, 1]);
  await writeFile(model, 'others!');
  assert.deepEqual([await find(), made], [calibration, 2]);
});
