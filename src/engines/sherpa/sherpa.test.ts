import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, symlink, truncate } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import test from 'node:test';
import { SHERPA_OPTIONS } from '../../../test/fixtures/audio/sherpa-options.ts';
import { openTestFolder, TONE_MODEL } from '../../../test/fixtures/audio/test-audio.ts';
import { toneSpeech } from '../../../test/fixtures/audio/tone/speech.ts';
import { asked, isEngineError, testConformance } from '../../../test/fixtures/engine-conformance.ts';
import { childProcesses, isRunning, killChildren } from '../../../test/fixtures/processes/children.ts';
import { until } from '../../../test/fixtures/until.ts';
import { openWorkingEngine, rankModels } from '../registry/open.ts';
import { readOnnxMetadata } from './onnx-metadata.ts';
import { openSherpa } from './sherpa.ts';

const settings = { ...SHERPA_OPTIONS, slots: 2 };
const TEXT = 'the engine reads this text out of tones and gives it back without a single fault';

testConformance('sherpa-onnx', async () => {
  const engine = await openSherpa(TONE_MODEL, settings);
  return {
    engine,
    speech: toneSpeech(TEXT),
    expected: new RegExp(`^${TEXT}$`),
    // An answer from another process takes more than the millisecond that the tests need.
    stall: () => undefined,
    unstall: () => undefined,
    crash: killChildren,
    processes: () => childProcesses(),
    isRunning,
    [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose](),
  };
});

/** A copy of the tone model, truncated to `bytes` when given. */
async function copyModel(folder: string, bytes?: number): Promise<string> {
  await mkdir(folder, { recursive: true });
  await copyFile(path.join(TONE_MODEL, 'tone.onnx'), path.join(folder, 'zipformer.onnx'));
  await copyFile(path.join(TONE_MODEL, 'tokens.txt'), path.join(folder, 'tokens.txt'));
  if (bytes !== undefined) await truncate(path.join(folder, 'zipformer.onnx'), bytes);
  return folder;
}

test('each call to a truncated model fails with an error that says what to do', async () => {
  await using folder = await openTestFolder();
  await using engine = await openSherpa(await copyModel(path.join(folder.path, 'cut'), 5000), settings);

  await assert.rejects(engine.warmUp(), /model cut cannot be loaded: fetch it again/);
  await assert.rejects(engine.transcribe(toneSpeech('hello'), asked()), isEngineError('engine_error'));
});

test('a model that is repaired on disk works without a restart of the service', async () => {
  await using folder = await openTestFolder();
  const model = await copyModel(path.join(folder.path, 'cut'), 5000);
  await using engine = await openSherpa(model, { ...settings, slots: 1 });
  await assert.rejects(engine.warmUp());

  await copyFile(path.join(TONE_MODEL, 'tone.onnx'), path.join(model, 'zipformer.onnx'));

  await engine.warmUp();
});

test('a folder without a model is an error at once', async () => {
  await using folder = await openTestFolder();

  await assert.rejects(openSherpa(folder.path, settings), isEngineError('engine_error'));
  await assert.rejects(openSherpa('no-such-model', settings), /There is no model no-such-model/);
});

test('the first model folder that loads is chosen', async () => {
  await using folder = await openTestFolder();
  await copyModel(path.join(folder.path, 'a-broken-model'), 5000);
  await copyModel(path.join(folder.path, 'b-whole-model'));
  await mkdir(path.join(folder.path, 'empty'));

  const options = { ...settings, modelsDir: folder.path };
  const { spec, engine } = await openWorkingEngine(null, options);
  const given = openWorkingEngine({ kind: 'sherpa-onnx', model: 'a-broken-model' }, options);

  assert.deepEqual(spec, { kind: 'sherpa-onnx', model: 'b-whole-model' });
  await assert.rejects(given, isEngineError('engine_error'));
  await engine[Symbol.asyncDispose]();
  assert.deepEqual(childProcesses(), []);
});

test('the best catalogued model is chosen before models that are not in the catalogue', async () => {
  await using folder = await openTestFolder();
  for (const name of ['a-model-of-my-own', 'moonshine-base', 'parakeet-110m', 'silero-vad', 'moonshine-tiny']) {
    await copyModel(path.join(folder.path, name));
  }

  const { spec, engine } = await openWorkingEngine(null, { ...settings, modelsDir: folder.path });

  await engine[Symbol.asyncDispose]();
  assert.deepEqual(spec, { kind: 'sherpa-onnx', model: 'parakeet-110m' });
});

test('models are ranked best first, without voice detectors', () => {
  const ranked = rankModels(['b-own', 'a-own', 'silero-vad', 'whisper-tiny', 'parakeet-0.6b-v3', 'parakeet-0.6b-v2']);

  assert.deepEqual(ranked, ['parakeet-0.6b-v2', 'parakeet-0.6b-v3', 'whisper-tiny', 'a-own', 'b-own']);
});

test('without models there is no engine, and the reason says how to get one', async () => {
  await assert.rejects(openWorkingEngine(null, settings), /^EngineError: No model yet\. To fetch one: verbatim models/);
});

test('an unreadable models folder is an error that names it', async () => {
  await using folder = await openTestFolder();
  const [modelsDir, model] = [path.join(folder.path, 'models'), path.join(folder.path, 'model')];
  // A link to itself is unreadable even for root.
  for (const link of [modelsDir, model]) await symlink(link, link);

  await assert.rejects(openWorkingEngine(null, { ...settings, modelsDir }), {
    message: `The folder ${modelsDir} cannot be read (ELOOP). Let the service's user read it.`,
  });
  await assert.rejects(openSherpa(model, settings), /The folder .*\/model cannot be read \(ELOOP\)/);
});

test('the metadata of a model is read without its graph', async () => {
  const metadata = await readOnnxMetadata(path.join(TONE_MODEL, 'tone.onnx'));

  assert.equal(metadata.get('model_type'), 'zipformer2_ctc');
});

test('when this process is killed, its engine processes end, even during a piece', async () => {
  const owner = spawn(
    process.execPath,
    [path.join(import.meta.dirname, '../../../test/fixtures/processes/engine-owner.ts')],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const [line] = await once(createInterface({ input: owner.stdout }), 'line');
  const engines: number[] = JSON.parse(line);
  const before = engines.filter(isRunning).length;

  owner.kill('SIGKILL');

  assert.equal(before, 2);
  // The piece takes far longer.
  await until('the engine processes to end', () => engines.every((pid) => !isRunning(pid)), 15_000);
});
