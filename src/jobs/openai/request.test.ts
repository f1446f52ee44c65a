import assert from 'node:assert/strict';
import test from 'node:test';
import { readTranscriptionRequest, TRANSCRIPTION_FIELDS, TRANSLATION_FIELDS } from './request.ts';

function read(fields: Record<string, string>, lists: Record<string, string[]> = {}) {
  const given = { fields: new Map(Object.entries(fields)), lists: new Map(Object.entries(lists)) };
  return readTranscriptionRequest(given, 'pro');
}

const LANGUAGES: [given: string | null, several: string[], read: string | null][] = [
  [null, [], null],
  ['', [], null],
  ['en-gb', [], 'en-GB'],
  [null, ['DE'], 'de'],
  ['', ['de'], 'de'],
  [null, ['de', 'en'], null],
  ['en', ['de', 'fr'], 'en'],
  [null, ['', ''], null],
  ['auto', [], null],
  ['Auto', ['de'], 'de'],
];
for (const [given, several, language] of LANGUAGES) {
  test(`language ${given} and languages ${several.join(' and ') || 'absent'} are read as ${language}`, () => {
    assert.equal(read(given === null ? {} : { language: given }, { 'languages[]': several }).language, language);
  });
}

test('a language that is none is refused, also among several', () => {
  for (const languages of [['no language'], ['de', '?']]) {
    assert.throws(() => read({}, { 'languages[]': languages }), { type: 'invalid_request', param: 'language' });
  }
});

test('only diarized_json asks for speakers, and only verbose_json for word times', () => {
  const words = { 'timestamp_granularities[]': ['word'] };

  assert.deepEqual(read({ response_format: 'diarized_json' }).options, { diarize: true });
  assert.deepEqual(read({ response_format: 'json' }).options, {});
  assert.equal(read({ response_format: 'verbose_json' }, words).wordTimes, true);
  assert.equal(read({ response_format: 'json' }, words).wordTimes, false);
});

test('a stream has formats of its own', () => {
  for (const format of ['json', 'text', 'diarized_json']) {
    assert.equal(read({ stream: 'true', response_format: format }).isStream, true);
  }
  for (const format of ['srt', 'vtt', 'verbose_json']) {
    assert.throws(() => read({ stream: '1', response_format: format }), { param: 'response_format' });
    assert.equal(read({ stream: 'false', response_format: format }).isStream, false);
  }
});

test('what clients write for no value, for True and for a list is taken', () => {
  const empty = { model: '', response_format: '', stream: '', prompt: '', language: '' };
  const granularities = (lists: Record<string, string[]>) =>
    read({ response_format: 'verbose_json' }, lists).granularities;

  assert.deepEqual(read(empty, { 'timestamp_granularities[]': [''] }), read({}));
  assert.equal(read({ stream: 'True' }).isStream, true);
  assert.equal(read({ stream: 'False' }).isStream, false);
  assert.deepEqual(granularities({ timestamp_granularities: ['word'] }), ['word']);
  assert.deepEqual(granularities({ timestamp_granularities: ['["word", "segment"]'] }), ['word', 'segment']);
  assert.deepEqual(granularities({ timestamp_granularities: ['word,segment'] }), ['word', 'segment']);
  assert.throws(() => granularities({ timestamp_granularities: ['char'] }), { param: 'timestamp_granularities' });
  assert.deepEqual(read({}, { keywords: ['Kennedy'] }).options, { keywords: ['Kennedy'] });
});

test('options of the engines of other servers are taken and ignored', () => {
  for (const name of ['vad_filter', 'word_timestamps', 'beam_size', 'hotwords', 'condition_on_previous_text']) {
    assert.ok(Object.hasOwn(TRANSCRIPTION_FIELDS.fieldBytes, name), name);
    assert.ok(Object.hasOwn(TRANSLATION_FIELDS.fieldBytes, name), name);
  }
});
