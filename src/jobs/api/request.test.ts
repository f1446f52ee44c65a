import assert from 'node:assert/strict';
import test from 'node:test';
import { readTranscribeRequest } from './request.ts';

const read = (fields: Record<string, string>, plan: 'lite' | 'pro' = 'pro') =>
  readTranscribeRequest({ fields: new Map(Object.entries(fields)), lists: new Map() }, plan);

test('without fields, the plan is that of the account and the answer is synchronous JSON with segments', () => {
  assert.deepEqual(read({}, 'lite'), {
    plan: 'lite',
    isAsync: false,
    audioUrl: null,
    webhook: null,
    metadata: null,
    title: null,
    tags: [],
    language: null,
    wordTimes: false,
    options: {},
    responseFormat: 'json',
    captions: null,
    captionNames: false,
    readsWords: false,
  });
});

const ACCEPTED: [field: string, given: string, as: string, value: unknown][] = [
  ['plan', 'lite', 'plan', 'lite'],
  ['async', 'true', 'isAsync', true],
  ['async', '1', 'isAsync', true],
  ['async', 'false', 'isAsync', false],
  ['async', '0', 'isAsync', false],
  ['metadata', ' {"b":1.0, "a": 12345678901234567890} ', 'metadata', ' {"b":1.0, "a": 12345678901234567890} '],
  ['metadata', '"\\u0000\\ud800"', 'metadata', '"\\u0000\\ud800"'],
  ['metadata', 'null', 'metadata', 'null'],
  ['metadata', '1e400', 'metadata', '1e400'],
  ['language', 'en', 'language', 'en'],
  ['language', 'PT-br', 'language', 'pt-BR'],
  ['language', 'zh-hant-tw', 'language', 'zh-Hant-TW'],
  ['timestamps', 'word', 'wordTimes', true],
  ['timestamps', 'segment', 'wordTimes', false],
  ['response_format', 'vtt', 'responseFormat', 'vtt'],
];
for (const [field, given, as, value] of ACCEPTED) {
  test(`${field}=${given} is accepted`, () => {
    assert.deepEqual((read({ [field]: given }) as Record<string, unknown>)[as], value);
  });
}

const REFUSED: [field: string, given: string][] = [
  ['plan', 'gold'],
  ['plan', ''],
  ['plan', 'Pro'],
  ['async', 'yes'],
  ['async', 'TRUE'],
  ['async', ''],
  ['metadata', ''],
  ['metadata', '{a:1}'],
  ['metadata', '"\u0000"'],
  ['metadata', '\ufeff{}'],
  ['metadata', 'undefined'],
  ['language', ''],
  ['language', 'english language'],
  ['language', 'e'],
  ['language', 'english'],
  ['language', 'zz'],
  ['language', 'english-US'],
  ['language', '../en'],
  ['language', 'en-a-bcdefgh-bcdefghi-bcdefghj-bcdefghk'],
  ['timestamps', 'words'],
  ['response_format', 'verbose_json'],
];
for (const [field, given] of REFUSED) {
  test(`${field}=${JSON.stringify(given)} is rejected with the name of the field`, () => {
    assert.throws(() => read({ [field]: given }), { type: 'invalid_request', param: field });
  });
}

test('a plan above that of the account is rejected', () => {
  assert.throws(() => read({ plan: 'pro' }, 'lite'), { type: 'plan_limit', param: 'plan' });
});

test('an asynchronous request with a format other than json is rejected', () => {
  assert.throws(() => read({ async: '1', response_format: 'srt' }), {
    type: 'invalid_request',
    param: 'response_format',
  });
});
