import assert from 'node:assert/strict';
import test from 'node:test';
import { runtimeOn } from '../../../test/fixtures/runtime.ts';
import type { Database } from '../../db/database.ts';
import { openSecretBox } from '../../webhooks/secrets/secrets.ts';
import { openAudioUrl, openAudioUrlGuard, readAudioUrl } from './audio-url.ts';

const URL = 'https://a.example.com/b.wav?key=s3cr3t';
const BOX = openSecretBox(Buffer.alloc(32, 1));
const headersOf = (text: string) =>
  readAudioUrl(
    new Map([
      ['audio_url', URL],
      ['audio_url_headers', text],
    ]),
  )!.headers;

/** A guard for which every name has these addresses. */
const guardFor = (addresses: string[]) =>
  openAudioUrlGuard({ ...runtimeOn({} as Database), secretBox: BOX, lookup: async () => addresses });

test('headers are read by their names in lower case', () => {
  assert.deepEqual(headersOf('{"Authorization":"Bearer x","X-Own_1":"a b\\tc",  "accept":""}'), {
    authorization: 'Bearer x',
    'x-own_1': 'a b\tc',
    accept: '',
  });
  assert.deepEqual(headersOf('{}'), {});
  assert.deepEqual(readAudioUrl(new Map()), null);
});

const names = (count: number) =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, n) => [`x-${n}`, ''])));

test('ten headers are accepted, eleven are not', () => {
  assert.equal(Object.keys(headersOf(names(10))).length, 10);
  assert.throws(() => headersOf(names(11)), { type: 'invalid_request', param: 'audio_url_headers' });
});

const REFUSED = [
  ...[
    '',
    'x',
    '[]',
    '"x"',
    'null',
    '7',
    '{"a":1}',
    '{"a":null}',
    '{"a":["b"]}',
    '{"":"x"}',
    '{"a b":"x"}',
    '{"a:":"x"}',
  ],
  ...['{"ä":"x"}', '{"a":"ä"}', '{"a":"x\\r\\ny: z"}', '{"a":"\\u0000"}', '{"a\\r\\nb":"x"}', '{"A":"1","a":"2"}'],
];
for (const text of REFUSED) {
  test(`the headers ${text} are refused without quoting a value`, () => {
    assert.throws(() => headersOf(text), { type: 'invalid_request', param: 'audio_url_headers' });
  });
}

for (const name of 'Host Content-Length Connection Transfer-Encoding Range Accept-Encoding Cookie TE Expect Upgrade Proxy-Authorization'.split(
  ' ',
)) {
  test(`the header ${name} is refused`, () => {
    assert.throws(() => headersOf(JSON.stringify({ [name.toUpperCase()]: 'x' })), { param: 'audio_url_headers' });
  });
}

test('headers without a URL are refused', () => {
  assert.throws(() => readAudioUrl(new Map([['audio_url_headers', '{}']])), { param: 'audio_url_headers' });
});

test('what is stored opens for its job only, and shows neither query nor headers', async () => {
  const audio = await guardFor(['93.184.216.34']).permit({ url: `${URL}#there`, headers: { a: 'b' } }, 'acct_x');
  const sealed = audio.sealFor('job_1');

  assert.deepEqual([audio.source, audio.filename], ['https://a.example.com/b.wav', 'b.wav']);
  assert.deepEqual(openAudioUrl(BOX, 'job_1', sealed), { url: URL, headers: { a: 'b' } });
  assert.throws(() => openAudioUrl(BOX, 'job_2', sealed));
  assert.equal(sealed.includes('s3cr3t'), false);
});

const FILENAMES: [path: string, filename: string | null][] = [
  ['/', null],
  ['/a/', null],
  ['/a/b%20c.wav', 'b c.wav'],
  ['/a/%2e%2e%2fpasswd', '.._passwd'],
  ['/a%00%e2%80%aeb.wav', 'ab.wav'],
  ['/%ff.wav', '%ff.wav'],
  [`/${'a'.repeat(300)}`, 'a'.repeat(255)],
];
for (const [path, filename] of FILENAMES) {
  test(`the name of a file at ${path.slice(0, 30)} is ${filename?.slice(0, 20)}`, async () => {
    const given = { url: `https://a.example.com${path}`, headers: {} };

    assert.equal((await guardFor(['93.184.216.34']).permit(given, 'acct_x')).filename, filename);
  });
}

test('a name that resolves to a forbidden address is refused, one that does not resolve is accepted', async () => {
  const given = { url: URL, headers: {} };

  for (const addresses of [['10.0.0.1'], ['93.184.216.34', '::1'], ['169.254.169.254']]) {
    await assert.rejects(guardFor(addresses).permit(given, 'acct_x'), { type: 'forbidden_url', param: 'audio_url' });
  }
  assert.equal((await guardFor([]).permit(given, 'acct_x')).source, 'https://a.example.com/b.wav');
});
