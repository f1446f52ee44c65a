import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import test from 'node:test';
import { type ApiError, BodyTimeoutError } from '../../http/api-error.ts';
import { isJsonForm, readJsonForm } from './json-form.ts';

const LIMITS = {
  fieldBytes: { audio_url: 30, headers: 40, metadata: 20, async: 10, speakers: 10, min_gap: 10, keywords: 8 },
  listFields: ['keywords'],
  textFields: ['audio_url', 'metadata', 'keywords'],
  insteadOfFile: 'audio_url',
  exactField: 'metadata',
  timeoutMs: 10_000,
};
const URL = 'https://a.example.com/';

function read(body: unknown, contentLength: number | null = null) {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const open = () => Readable.from([bytes], { objectMode: false });
  return readJsonForm({ open, contentType: 'application/json', contentLength, rawQuery: null }, LIMITS);
}

test('the fields are those of a form: text, numbers and booleans as text, lists repeated, objects as JSON', async () => {
  const form = await read({
    audio_url: URL,
    headers: { Authorization: 'x' },
    metadata: '{"n":1.0}',
    async: true,
    speakers: 3,
    min_gap: 0.25,
    keywords: ['one', 'two'],
  });

  assert.deepEqual(Object.fromEntries(form.fields), {
    audio_url: URL,
    headers: '{"Authorization":"x"}',
    metadata: '{"n":1.0}',
    async: 'true',
    speakers: '3',
    min_gap: '0.25',
    keywords: 'two',
  });
  assert.deepEqual(Object.fromEntries(form.lists), { keywords: ['one', 'two'] });
  assert.equal(form.file, null);
});

test('a list may be a JSON array in a string, of which each value has its limit', async () => {
  const lists = async (keywords: unknown) => (await read({ audio_url: URL, keywords })).lists.get('keywords');

  assert.deepEqual(await lists('["one", "two"]'), ['one', 'two']);
  assert.deepEqual(await lists(['["one"]']), ['["one"]']);
  assert.deepEqual(await lists('[one]'), ['[one]']);
  await assert.rejects(lists('["one", "too long a word"]'), /keywords may have at most 8 bytes/);
});

test('a single value of a repeated field is a list of one', async () => {
  assert.deepEqual((await read({ audio_url: URL, keywords: 'one' })).lists.get('keywords'), ['one']);
});

test('the same body has the same fingerprint, another body another one', async () => {
  const [one, same, other] = [
    await read({ audio_url: URL }),
    await read({ audio_url: URL }),
    await read({ audio_url: `${URL}x` }),
  ];

  assert.equal(one.fingerprint, same.fingerprint);
  assert.notEqual(one.fingerprint, other.fingerprint);
});

const REFUSED: [what: string, body: unknown, type: string, param: string | undefined][] = [
  ['text that is not JSON', '{"audio_url":', 'invalid_request', undefined],
  ['a list', [], 'invalid_request', undefined],
  ['null', 'null', 'invalid_request', undefined],
  ['an empty body', '', 'invalid_request', undefined],
  ['no URL', { async: true }, 'invalid_request', 'audio_url'],
  ['an unknown field', { audio_url: URL, file: 'x' }, 'invalid_request', 'file'],
  ['a field of the prototype', `{"audio_url":"${URL}","toString":"x"}`, 'invalid_request', 'toString'],
  ['metadata that is a number', { audio_url: URL, metadata: 7 }, 'invalid_request', 'metadata'],
  ['a number as text', { audio_url: 7 }, 'invalid_request', 'audio_url'],
  ['a boolean as text', { audio_url: true }, 'invalid_request', 'audio_url'],
  ['an object as text', { audio_url: { href: URL } }, 'invalid_request', 'audio_url'],
  ['a list as text', { audio_url: [URL] }, 'invalid_request', 'audio_url'],
  ['a number in a list of texts', { audio_url: URL, keywords: [7] }, 'invalid_request', 'keywords'],
  ['null in a field', { audio_url: URL, async: null }, 'invalid_request', 'async'],
  ['null in a list', { audio_url: URL, keywords: [null] }, 'invalid_request', 'keywords'],
  ['a lone surrogate', `{"audio_url":"${URL}\\ud800"}`, 'invalid_request', 'audio_url'],
  ['U+0000', `{"audio_url":"${URL}\\u0000"}`, 'invalid_request', 'audio_url'],
  ['a field over its size', { audio_url: `${URL}${'x'.repeat(10)}` }, 'too_large', 'audio_url'],
  ['a value of a list over its size', { audio_url: URL, keywords: ['123456789'] }, 'too_large', 'keywords'],
  ['a body over 64 KiB', { audio_url: URL, metadata: 'x'.repeat(66_000) }, 'too_large', undefined],
];
for (const [what, body, type, param] of REFUSED) {
  test(`${what} is refused`, async () => {
    await assert.rejects(read(body), (error: ApiError) => {
      assert.deepEqual([error.type, error.param], [type, param]);
      return true;
    });
  });
}

test('a declared length over 64 KiB is refused before the body is read', async () => {
  const upload = {
    open: () => Readable.from([]),
    contentType: 'application/json',
    contentLength: 70_000,
    rawQuery: null,
  };

  await assert.rejects(readJsonForm(upload, LIMITS), { type: 'too_large' });
});

test('metadata may be an object or a list, whose text is kept as it was written', async () => {
  for (const metadata of ['{"n": 1.0}', '[1.50, "\\ud800"]']) {
    const form = await read(`{"metadata": ${metadata}, "audio_url": "${URL}"}`);

    assert.equal(form.fields.get('metadata'), metadata);
  }
  await assert.rejects(read({ audio_url: URL, metadata: 1 }), { param: 'metadata' });
  await assert.rejects(read({ audio_url: URL, metadata: { text: 'more than 20 bytes' } }), { type: 'too_large' });
});

test('a body that does not arrive in time is refused', async () => {
  const stream = new Readable({ read: () => undefined });
  const upload = { open: () => stream, contentType: 'application/json', contentLength: null, rawQuery: null };

  await assert.rejects(readJsonForm(upload, { ...LIMITS, timeoutMs: 20 }), BodyTimeoutError);
  stream.destroy();
});

test('a JSON body is known by its media type', () => {
  const types = ['application/json', 'Application/JSON; charset=utf-8', 'application/json5', 'multipart/form-data', ''];

  assert.deepEqual(
    types.map((contentType) => isJsonForm({ contentType })),
    [true, true, false, false, false],
  );
});
