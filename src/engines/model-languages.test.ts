import assert from 'node:assert/strict';
import { test } from 'node:test';
import { languagesOfModel } from './model-languages.ts';

const NOTHING = new Map<string, string>();

test('a Whisper model knows the languages in its metadata', () => {
  const metadata = new Map([['all_language_codes', 'en,zh,yue']]);

  assert.deepEqual(languagesOfModel('whisper', 'whisper-large-v3', metadata), ['en', 'zh', 'yue']);
});

test('a Whisper model without languages in its metadata knows those of the first multilingual vocabulary', () => {
  const languages = languagesOfModel('whisper', 'whisper-small', NOTHING)!;

  assert.equal(languages.length, 99);
  assert.ok(!languages.includes('yue'));
});

test('an English Whisper model is recognised by its metadata or its name', () => {
  assert.deepEqual(languagesOfModel('whisper', 'some', new Map([['is_multilingual', '0']])), ['en']);
  assert.deepEqual(languagesOfModel('whisper', 'sherpa-onnx-whisper-tiny.en', NOTHING), ['en']);
});

test('a catalogued model is found by its name or its repository', () => {
  assert.deepEqual(languagesOfModel('transducer', 'parakeet-0.6b-v2', NOTHING), ['en']);
  assert.deepEqual(languagesOfModel('transducer', 'sherpa-onnx-nemo-parakeet-tdt-0.6b-v2-int8', NOTHING), ['en']);
});

test('the languages of an unknown model are null', () => {
  assert.equal(languagesOfModel('zipformerCtc', 'tone', NOTHING), null);
});
