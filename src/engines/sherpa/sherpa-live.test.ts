import assert from 'node:assert/strict';
import { cp, mkdir } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { SHERPA_OPTIONS } from '../../../test/fixtures/audio/sherpa-options.ts';
import { openTestFolder, STREAMING_TONE_MODEL, TONE_MODEL } from '../../../test/fixtures/audio/test-audio.ts';
import { SECONDS_PER_SIGN, toneSpeech } from '../../../test/fixtures/audio/tone/speech.ts';
import { testLiveConformance } from '../../../test/fixtures/live-conformance.ts';
import { openManualClock } from '../../../test/fixtures/manual-clock.ts';
import { openLiveEngine } from '../registry/open-live.ts';
import { openSherpa } from './sherpa.ts';
import { openSherpaLive } from './sherpa-live.ts';

const TEXT = "the engine reads this text while it comes and doesn't wait";

testLiveConformance('sherpa-onnx', async () => {
  const engine = await openSherpaLive(STREAMING_TONE_MODEL, SHERPA_OPTIONS, 1);
  return {
    engine: engine!,
    speech: toneSpeech(TEXT),
    expected: new RegExp(`^${TEXT}$`),
    // In the space, as a cut lies between words.
    cut: { seconds: 'the engine'.length * SECONDS_PER_SIGN + 0.1, expected: /^the engine$/ },
    [Symbol.asyncDispose]: () => engine![Symbol.asyncDispose](),
  };
});

test('a streaming model is refused for jobs, and a model for whole pieces does not stream', async () => {
  await assert.rejects(openSherpa(STREAMING_TONE_MODEL, SHERPA_OPTIONS), /serves live sessions only/);
  assert.equal(await openSherpaLive(TONE_MODEL, SHERPA_OPTIONS, 1), null);
});

test('a pulled streaming model is the live engine where none is named, and no engine for jobs', async () => {
  await using folder = await openTestFolder();
  await mkdir(path.join(folder.path, 'models'));
  for (const [name, model] of [
    ['tones', TONE_MODEL],
    ['zz-streaming-tones', STREAMING_TONE_MODEL],
  ] as const) {
    await cp(model, path.join(folder.path, 'models', name), { recursive: true });
  }
  const options = {
    ...SHERPA_OPTIONS,
    modelsDir: path.join(folder.path, 'models'),
    clock: openManualClock(),
    stepSeconds: null,
  };

  await using best = await openLiveEngine(null, options);
  await using named = await openLiveEngine({ kind: 'sherpa-onnx', model: 'tones' }, options);

  assert.deepEqual([best.name, named.name], ['zz-streaming-tones', 'tones']);
});
