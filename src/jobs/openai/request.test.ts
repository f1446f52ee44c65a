import assert from 'node:assert/strict';
import test from 'node:test';
import { readTranscriptionRequest } from './request.ts';

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
