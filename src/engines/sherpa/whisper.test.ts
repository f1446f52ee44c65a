import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { SHERPA_OPTIONS } from '../../../test/fixtures/audio/sherpa-options.ts';
import { openTestFolder } from '../../../test/fixtures/audio/test-audio.ts';
import { modelFile } from '../../../test/fixtures/audio/tone/model-file.ts';
import { toneSpeech } from '../../../test/fixtures/audio/tone/speech.ts';
import { asked } from '../../../test/fixtures/engine-conformance.ts';
import { openSherpa } from './sherpa.ts';
import { mayBeCut, readSherpaResult } from './sherpa-words.ts';

test('a Whisper model accepts its own languages only, and pieces of 29.4 s', async () => {
  await using folder = await openTestFolder();
  const metadata = { model_type: 'whisper-large-v3', is_multilingual: '1', all_language_codes: 'en,no,yue' };
  const empty = modelFile({ nodes: [], constants: [], inputs: [], outputs: [] }, metadata);
  for (const name of ['encoder.onnx', 'decoder.onnx']) await writeFile(path.join(folder.path, name), empty);
  await writeFile(path.join(folder.path, 'tokens.txt'), '');

  await using engine = await openSherpa(folder.path, SHERPA_OPTIONS);

  assert.deepEqual(engine.languages, ['en', 'no', 'yue']);
  assert.equal(engine.maxPieceSeconds, 29.4);
  await assert.rejects(
    engine.transcribe(toneSpeech('hello'), asked({ language: 'xx' })),
    /does not know the language xx/,
  );
});

test('a text of six tokens per second may be cut, a shorter one is not', () => {
  const tokens = (count: number) => ({ text: '', tokens: Array.from({ length: count }, () => ' a') });

  assert.equal(mayBeCut(tokens(60), 10), true);
  assert.equal(mayBeCut(tokens(59), 10), false);
  assert.equal(mayBeCut(tokens(176), 29.4), true);
  assert.equal(mayBeCut(tokens(0), 0.1), false);
});

test('the language is given as its canonical code', () => {
  const languageOf = (lang: string) => readSherpaResult({ text: 'a', lang }, 1).language;

  assert.deepEqual(['jw', '<|tl|>', 'no', ''].map(languageOf), ['jv', 'fil', 'no', null]);
});
