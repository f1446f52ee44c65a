import assert from 'node:assert/strict';
import test from 'node:test';
import { readTranscribeRequest } from './request.ts';

const read = (fields: Record<string, string>, plan: 'lite' | 'pro' = 'pro') =>
  readTranscribeRequest(new Map(Object.entries(fields)), plan);

test('without fields the plan is the account’s, the answer synchronous json by segments', () => {
  assert.deepEqual(read({}, 'lite'), {
    plan: 'lite',
    isAsync: false,
    metadata: null,
    language: null,
    wordTimes: false,
    responseFormat: 'json',
  });
});

const TAKEN: [field: string, given: string, as: string, value: unknown][] = [
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
for (const [field, given, as, value] of TAKEN) {
  test(`${field}=${given} is taken`, () => {
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
  ['language', '../en'],
  ['language', 'en-a-bcdefgh-bcdefghi-bcdefghj-bcdefghk'],
  ['timestamps', 'words'],
  ['response_format', 'verbose_json'],
];
for (const [field, given] of REFUSED) {
  test(`${field}=${JSON.stringify(given)} is refused by name`, () => {
    assert.throws(() => read({ [field]: given }), { type: 'invalid_request', param: field });
  });
}

test('a plan above the account’s is refused', () => {
  assert.throws(() => read({ plan: 'pro' }, 'lite'), { type: 'plan_limit', param: 'plan' });
});

test('an asynchronous request has no other format than json', () => {
  assert.throws(() => read({ async: '1', response_format: 'srt' }), {
    type: 'invalid_request',
    param: 'response_format',
  });
});
