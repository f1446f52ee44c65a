import assert from 'node:assert/strict';
import { cp, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { SHERPA_OPTIONS } from '../../../test/fixtures/audio/sherpa-options.ts';
import { openTestFolder, TONE_MODEL } from '../../../test/fixtures/audio/test-audio.ts';
import { toneSpeech } from '../../../test/fixtures/audio/tone/speech.ts';
import { putWhisperModel } from '../../../test/fixtures/audio/whisper-model.ts';
import { asked, textOf } from '../../../test/fixtures/engine-conformance.ts';
import { openManualClock } from '../../../test/fixtures/manual-clock.ts';
import { EnginePresence } from '../presence/engine-presence.ts';
import { openWorkingEngine } from './open.ts';

test('of two models, each serves the languages that the rule gives it, under its own name', async () => {
  await using folder = await openTestFolder();
  await cp(TONE_MODEL, path.join(folder.path, 'parakeet-110m'), { recursive: true });
  await mkdir(path.join(folder.path, 'whisper-base'));
  await putWhisperModel(path.join(folder.path, 'whisper-base'));
  const { spec, engine } = await openWorkingEngine(null, { ...SHERPA_OPTIONS, modelsDir: folder.path });
  await using together = new EnginePresence(engine, { clock: openManualClock(), log: SHERPA_OPTIONS.log });

  const heard = async (request: Parameters<typeof asked>[0]) => {
    const model = together.serving({ language: null, ...request });
    return [model.name, textOf(await model.transcribe(toneSpeech('hello'), asked(request)))];
  };

  assert.deepEqual(await heard({ language: 'en' }), ['parakeet-110m', 'hello']);
  assert.deepEqual(await heard({ language: 'de' }), ['whisper-base', 'spoken']);
  assert.deepEqual(await heard({ language: null }), ['whisper-base', 'spoken']);
  assert.deepEqual(await heard({ language: 'en', translateTo: 'en' }), ['whisper-base', 'translated観']);
  assert.equal(spec, null);
  assert.equal(together.name, 'parakeet-110m, whisper-base');
  assert.deepEqual(together.languages, ['en', 'de']);
  assert.deepEqual(together.features, ['translate']);
  assert.equal(together.serving({ language: 'de' }), together.serving({ language: null }));
});

test('without a model that does not load, another one serves its languages', async () => {
  await using folder = await openTestFolder();
  await mkdir(path.join(folder.path, 'parakeet-110m'));
  await mkdir(path.join(folder.path, 'whisper-base'));
  await putWhisperModel(path.join(folder.path, 'whisper-base'));

  const { spec, engine } = await openWorkingEngine(null, { ...SHERPA_OPTIONS, modelsDir: folder.path });

  await using model = engine;
  assert.deepEqual(spec, { kind: 'sherpa-onnx', model: 'whisper-base' });
  assert.equal(textOf(await model.transcribe(toneSpeech('hello'), asked({ language: 'en' }))), 'spoken');
});
