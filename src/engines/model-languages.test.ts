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

const NAMES: { name: string; family?: string; files?: string[]; languages: string[] | null }[] = [
  { name: 'moonshine-tiny', family: 'moonshine', languages: ['en'] },
  { name: 'any-folder', family: 'moonshine', languages: ['en'] },
  { name: 'sherpa-onnx-moonshine-base-es-quantized-2026-02-27', family: 'moonshine', languages: ['es'] },
  { name: 'sherpa-onnx-zipformer-en-2023-06-26', languages: ['en'] },
  { name: 'sherpa-onnx-streaming-zipformer-bilingual-zh-en-2023-02-20', languages: ['zh', 'en'] },
  { name: 'model', files: ['zipformer-de-int8.onnx'], languages: ['de'] },
  { name: 'what-is-it', languages: null },
  { name: 'zipformer-multi', languages: null },
];

for (const { name, family = 'zipformerCtc', files = [], languages } of NAMES) {
  test(`the languages of the folder ${name} with ${files.join(', ') || 'no such file'}: ${languages}`, () => {
    assert.deepEqual(languagesOfModel(family, name, NOTHING, files), languages);
  });
}

test('languages in the metadata count where they are codes', () => {
  assert.deepEqual(languagesOfModel('nemoCtc', 'model', new Map([['languages', 'de, fr']])), ['de', 'fr']);
  assert.equal(languagesOfModel('nemoCtc', 'model', new Map([['language', 'Klingon']])), null);
});
