import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { SHERPA_OPTIONS } from '../../../test/fixtures/audio/sherpa-options.ts';
import { openTestFolder } from '../../../test/fixtures/audio/test-audio.ts';
import { toneSpeech } from '../../../test/fixtures/audio/tone/speech.ts';
import { putWhisperModel } from '../../../test/fixtures/audio/whisper-model.ts';
import { asked, textOf } from '../../../test/fixtures/engine-conformance.ts';
import { openSherpa } from './sherpa.ts';
import { featuresOfModel } from './sherpa-features.ts';

test('a Whisper model translates the pieces for which that is asked, and no others', async () => {
  await using folder = await openTestFolder();
  const model = path.join(folder.path, 'whisper-small');
  await mkdir(model);
  await putWhisperModel(model);
  await using engine = await openSherpa(model, SHERPA_OPTIONS);
  const speech = toneSpeech('a word');

  const transcripts = [];
  for (const request of [
    { language: null },
    { language: null, translateTo: 'en' as const },
    { language: 'en', translateTo: 'en' as const },
    { language: 'en' },
    { language: null, translateTo: null },
  ]) {
    transcripts.push(await engine.transcribe(speech, asked(request)));
  }

  assert.deepEqual(
    transcripts.map((transcript) => [textOf(transcript), transcript.language]),
    [
      ['spoken', 'de'],
      ['translated観', 'de'],
      ['translated観', 'en'],
      ['spoken', 'en'],
      ['spoken', 'de'],
    ],
  );
  assert.deepEqual(engine.features, ['translate']);
  assert.equal(engine.licence?.name, 'MIT');
  assert.match(engine.licence!.attribution, /^OpenAI/);
});

test('a Whisper model whose decoder gives its attention has words with times', () => {
  assert.deepEqual(featuresOfModel('whisper', ['whisper-base', ''], ['en', 'de'], true), ['words', 'translate']);
});

const MODELS: [family: string, names: string[], languages: string[] | null, features: string[]][] = [
  ['whisper', ['whisper-medium', 'whisper-medium'], ['en', 'de'], ['translate']],
  ['whisper', ['whisper-turbo', ''], ['en', 'de'], []],
  ['whisper', ['my-model', 'whisper-turbo'], ['en', 'de'], []],
  ['whisper', ['my-model', 'whisper-distil-large-v3'], ['en', 'de'], []],
  ['whisper', ['whisper-tiny.en', 'whisper-tiny.en'], ['en'], []],
  ['transducer', ['parakeet-0.6b-v3', 'EncDecRNNTBPEModel'], ['en', 'de'], ['words', 'confidence']],
  ['nemoCtc', ['parakeet-110m', ''], ['en'], ['words']],
  ['moonshine', ['moonshine-base', ''], ['en'], []],
  ['canary', ['canary-1b-v2', ''], ['en', 'de'], []],
];

for (const [family, names, languages, features] of MODELS) {
  test(`${family} ${names.join(' ')} gives ${features.join(' and ') || 'text alone'}`, () => {
    assert.deepEqual(featuresOfModel(family, names, languages), features);
  });
}
