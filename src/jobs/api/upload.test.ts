import assert from 'node:assert/strict';
import test from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import {
  ASYNC_END,
  answerOf,
  FILE_HEAD,
  openUploadServer,
  watchContinue,
} from '../../../test/fixtures/servers/upload-server.ts';
import { until } from '../../../test/fixtures/until.ts';

test('an upload over a socket becomes a job', async () => {
  await using server = await openUploadServer({ MAX_UPLOAD_BYTES: '100000' });
  const account = await server.account();
  const request = server.send(account.key);
  request.end(Buffer.concat([Buffer.from(FILE_HEAD), wavFile(1), Buffer.from(ASYNC_END)]));

  const answer = await answerOf(request);

  assert.equal(answer.status, 202);
  assert.equal((await server.fixture.job(account, answer.json.id)).status, 'queued');
});

test('a body of audio is the file, and the query has the fields of the form', async () => {
  await using server = await openUploadServer({ MAX_UPLOAD_BYTES: '100000' });
  const account = await server.account();
  const send = async (query: string, body: Uint8Array, type = 'audio/wav') => {
    const request = server.send(account.key, { 'content-type': type }, `/v1/transcribe${query}`);
    request.end(body);
    return await answerOf(request);
  };
  const metadata = encodeURIComponent('{"a": 1.0}');

  const made = await send(`?async=true&metadata=${metadata}&keywords=one&keywords=two`, wavFile(1));
  const unknown = await send('?async=true&speed=2', wavFile(1));
  const twice = await send('?async=true&async=false', wavFile(1));
  const large = await send('?async=true', Buffer.alloc(100_001));
  const empty = await send('?async=true', Buffer.alloc(0));
  const other = await send('?async=true', wavFile(1), 'text/plain');

  assert.deepEqual([made.status, made.json.metadata], [202, { a: 1 }]);
  assert.deepEqual([unknown.status, unknown.json.error.param], [400, 'speed']);
  assert.deepEqual([twice.status, twice.json.error.param], [400, 'async']);
  assert.deepEqual([large.status, empty.status, other.status], [413, 422, 415]);
  await until('the refused files to be gone', async () => (await server.fixture.files()).length <= 1);
});

test('metadata may be a part of its own, with a file name and a type', async () => {
  await using server = await openUploadServer({ MAX_UPLOAD_BYTES: '100000' });
  const account = await server.account();
  const statuses: (number | undefined)[] = [];

  for (const [type, name] of [
    ['application/json', 'm.json'],
    ['', 'blob'],
    ['application/octet-stream', 'blob'],
  ] as const) {
    const form = new FormData();
    form.append('metadata', new Blob(['{"a": 1.0}'], { type }), name);
    form.append('async', 'True');
    form.append('file', new Blob([Uint8Array.from(wavFile(1))]), 'a.wav');
    const encoded = new Response(form);
    const request = server.send(account.key, { 'content-type': encoded.headers.get('content-type')! });
    request.end(Buffer.from(await encoded.arrayBuffer()));
    const answer = await answerOf(request);
    statuses.push(answer.status);
    assert.deepEqual(answer.json.metadata, { a: 1 });
  }

  assert.deepEqual(statuses, [202, 202, 202]);
});

test('raw audio that breaks off leaves nothing on disk', async () => {
  await using server = await openUploadServer({ MAX_UPLOAD_BYTES: '1000000' });
  const account = await server.account();
  const request = server.send(account.key, { 'content-type': 'audio/wav' }, '/v1/transcribe?async=true');
  request.write('half of the sound'.repeat(30_000));
  await until('the upload to begin', async () => (await server.fixture.files()).length === 1);

  request.destroy();

  await until('the file to be gone', async () => (await server.fixture.files()).length === 0);
  assert.deepEqual(await server.fixture.db.rows({ text: 'select id from jobs' }), []);
});

test('a client that disconnects during an upload leaves nothing on disk', async () => {
  await using server = await openUploadServer({ MAX_UPLOAD_BYTES: '1000000' });
  const account = await server.account();
  const request = server.send(account.key);
  // Smaller uploads are not on disk before they are complete.
  request.write(FILE_HEAD + 'half of the sound'.repeat(30_000));
  await until('the upload to begin', async () => (await server.fixture.files()).length === 1);

  request.destroy();

  await until('the file to be gone', async () => (await server.fixture.files()).length === 0);
  assert.deepEqual(await server.fixture.db.rows({ text: 'select id from jobs' }), []);
});

const ENDED: [what: string, change: string, status: number][] = [
  ['whose account is suspended', 'update accounts set suspended_at = now()', 403],
  ['whose account is erased', 'update accounts set deleted_at = now()', 401],
  ['whose key is revoked', 'delete from api_keys', 401],
];

for (const [what, change, status] of ENDED) {
  test(`an upload ${what} while it arrives is refused at its end, and leaves nothing`, async () => {
    await using server = await openUploadServer({ MAX_UPLOAD_BYTES: '2000000' });
    const { db, files } = server.fixture;
    const account = await server.account();
    const request = server.send(account.key);
    const audio = wavFile(10);
    request.write(Buffer.concat([Buffer.from(FILE_HEAD), audio.subarray(0, 300_000)]));
    await until('the upload to begin', async () => (await files()).length === 1);
    await db.run({ text: change });
    server.callers.forgetAll();

    request.end(Buffer.concat([audio.subarray(300_000), Buffer.from(ASYNC_END)]));
    const answer = await answerOf(request);

    assert.equal(answer.status, status);
    assert.deepEqual(await db.rows({ text: 'select id from jobs' }), []);
    await until('the file to be gone', async () => (await files()).length === 0);
  });
}

test('a key that another node revokes during an upload is refused at its end, a second later', async () => {
  await using server = await openUploadServer({ MAX_UPLOAD_BYTES: '2000000' });
  const account = await server.account();
  const request = server.send(account.key);
  const audio = wavFile(10);
  request.write(Buffer.concat([Buffer.from(FILE_HEAD), audio.subarray(0, 300_000)]));
  await until('the upload to begin', async () => (await server.fixture.files()).length === 1);
  await server.fixture.db.run({ text: 'delete from api_keys' });
  server.pass(900);

  request.end(Buffer.concat([audio.subarray(300_000), Buffer.from(ASYNC_END)]));

  assert.equal((await answerOf(request)).status, 401);
});

test('a body with too large a declared length is rejected before it is sent', async () => {
  await using server = await openUploadServer({ MAX_UPLOAD_BYTES: '100000' });
  const account = await server.account();
  const request = server.send(account.key, { 'content-length': '10000000', expect: '100-continue' });
  const isContinued = watchContinue(request);
  request.flushHeaders();

  const answer = await answerOf(request);

  assert.deepEqual([answer.status, answer.json.error.type], [413, 'too_large']);
  assert.equal(isContinued(), false);
  request.destroy();
});

test('a client that is still sending when its upload is rejected can read the error', async () => {
  await using server = await openUploadServer({ MAX_UPLOAD_BYTES: '100000' });
  const account = await server.account();
  const request = server.send(account.key);
  request.write('--xx\r\nContent-Disposition: form-data; name="speed"\r\n\r\n2\r\n' + FILE_HEAD);
  request.end(Buffer.alloc(90_000, 'x'));

  const answer = await answerOf(request);

  assert.deepEqual([answer.status, answer.json.error.param], [400, 'speed']);
  assert.deepEqual(await server.fixture.files(), []);
});
