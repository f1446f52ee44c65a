import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import http, { type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { openS3Storage } from './s3-storage.ts';
import { StorageAwayError } from './storage.ts';

const KEY = '0b9d2f9e-5c1a-4d3b-8f55-1f6b0a3c9d77';
const XML = { 'content-type': 'application/xml' };
const errorAnswer = (code: string, message: string) => (response: ServerResponse) =>
  response.writeHead(403, XML).end(`<Error><Code>${code}</Code><Message>${message}</Message></Error>`);

/** A storage whose server gives one answer to everything. */
async function openStorageBehind(
  answer: (response: ServerResponse) => void,
  scheme: 'http' | 'https' | 'none' = 'http',
) {
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' });
  const downloadsDir = await mkdtemp(path.join(os.tmpdir(), 's3-answers-'));
  const server = http.createServer((request, response) => {
    request.resume();
    answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const endpoint = scheme === 'none' ? null : `${scheme}://127.0.0.1:${port}`;
  return {
    storage: await openS3Storage({ bucket: 'b', prefix: 'p/', endpoint, region: null, downloadsDir }),
    left: () => readdir(downloadsDir),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(downloadsDir, { recursive: true });
    },
  };
}

const NOT_THE_PART: [what: string, headers: http.OutgoingHttpHeaders][] = [
  ['ignores Range', { 'content-length': 10 }],
  ['sends another part', { 'content-length': 10, 'content-range': 'bytes 0-9/100' }],
  ['sends a longer part', { 'content-length': 10, 'content-range': 'bytes 2-11/100' }],
];
for (const [what, headers] of NOT_THE_PART) {
  test(`a server that ${what} is an error, not other bytes of the audio`, async () => {
    await using fixture = await openStorageBehind((response) => response.writeHead(206, headers).end('0123456789'));

    await assert.rejects(fixture.storage.read(KEY, { first: 2, last: 5 }), StorageAwayError);
  });
}

test('a part that was asked for is read', async () => {
  const headers = { 'content-length': 4, 'content-range': 'bytes 2-5/10' };
  await using fixture = await openStorageBehind((response) => response.writeHead(206, headers).end('2345'));

  const stream = await fixture.storage.read(KEY, { first: 2, last: 5 });

  assert.equal(Buffer.concat(await stream!.toArray()).toString(), '2345');
});

const NOT_WHOLE: [what: string, answer: (response: ServerResponse) => void][] = [
  ['has no length', (response) => response.writeHead(200).end('half of the aud')],
  ['never ends', (response) => void response.writeHead(200).write(Buffer.alloc(1024))],
  [
    'is cut',
    (response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('half of the aud', () => response.destroy());
    },
  ],
];
for (const [what, answer] of NOT_WHOLE) {
  test(`an object whose body ${what} is no audio, and no copy of it stays`, async () => {
    await using fixture = await openStorageBehind(answer);

    await assert.rejects(fixture.storage.localPath(KEY), StorageAwayError);

    assert.deepEqual(await fixture.left(), []);
  });
}

const REASONS: [code: string, reason: RegExp][] = [
  ['AccessDenied', /refuses the access: let this key read, write, list and delete/],
  ['InvalidAccessKeyId', /refuses the key: correct AWS_ACCESS_KEY_ID/],
  ['SignatureDoesNotMatch', /refuses the key: correct AWS_ACCESS_KEY_ID/],
  ['NoSuchBucket', /no such bucket: create it, or correct STORAGE_URL/],
  ['RequestTimeTooSkewed', /correct the clock/],
  ['AuthorizationHeaderMalformed', /another region: correct AWS_REGION/],
  ['Unheard', /refuses the access \(403\): correct AWS_ACCESS_KEY_ID/],
  // The server chooses the name.
  ['\u009b2J Evil', /refuses the access \(403\)/],
];
for (const [code, reason] of REASONS) {
  test(`the answer ${JSON.stringify(code)} of a bucket is reported with what to do, and without its text`, async () => {
    await using fixture = await openStorageBehind(errorAnswer(code, 'of the server'));

    const why = (await fixture.storage.whyAway())!;

    assert.match(why, reason);
    assert.doesNotMatch(why, /of the server|127\.0\.0\.1/);
  });
}

test('a bucket that is asked with TLS and has none is reported with what to do', async () => {
  await using fixture = await openStorageBehind((response) => response.end(), 'https');

  assert.match((await fixture.storage.whyAway())!, /does not speak TLS as asked: check https:\/\/ or http:\/\//);
});

test('a bucket without a region is reported with the setting', async () => {
  const names = ['AWS_REGION', 'AWS_PROFILE', 'AWS_CONFIG_FILE'] as const;
  const before = names.map((name) => process.env[name]);
  for (const name of names) delete process.env[name];
  process.env['AWS_CONFIG_FILE'] = '/dev/null';
  await using fixture = await openStorageBehind((response) => response.end(), 'none');

  assert.match((await fixture.storage.whyAway())!, /set AWS_REGION/);
  names.forEach((name, index) => {
    if (before[index] === undefined) delete process.env[name];
    else process.env[name] = before[index];
  });
});

test('of the text of a server an error has a part', async () => {
  await using plain = await openStorageBehind(errorAnswer('AccessDenied', 'x'.repeat(100_000)));

  await assert.rejects(plain.storage.localPath(KEY), (error: Error) => {
    assert.ok((error.cause as Error).message.length <= 500);
    return error instanceof StorageAwayError;
  });
});
