import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import {
  type AudioRequest,
  type AudioServer,
  type Handler,
  openAudioServer,
} from '../../../test/fixtures/servers/audio-server.ts';
import { testAuthority } from '../../../test/fixtures/webhooks/receiver.ts';
import { FileFetcher } from './fetch.ts';
import { FetchError } from './fetch-error.ts';

const FILE = Buffer.from('these bytes are the file');
const SENT = 10;
const MODIFIED = 'Wed, 18 Nov 2026 09:00:00 GMT';

type Headers = Record<string, string>;

type BreakingServer = AudioServer & { breakOff(): void };

/**
 * A server whose first file is broken off by `breakOff`.
 * Requests after it get these answers, the last one again and again.
 */
async function breakingOff(headers: Headers, ...later: Handler[]): Promise<BreakingServer> {
  const broken: ServerResponse[] = [];
  const server = await openAudioServer((request, response, index) => {
    if (request.path === '/start') return void response.writeHead(302, { location: '/file' }).end();
    if (broken.length > 0) return later[Math.min(index, later.length) - 1]!(request, response, index);
    broken.push(response);
    response.writeHead(200, { 'content-length': FILE.length, ...headers }).write(FILE.subarray(0, SENT));
  });
  return { ...server, breakOff: () => void broken[0]!.destroy() };
}

const answer =
  (status: number, bytes: Uint8Array, headers: Headers = {}): Handler =>
  (_request, response) =>
    void response.writeHead(status, { 'content-length': bytes.length, ...headers }).end(bytes);
const rest = (headers: Headers = {}) =>
  answer(206, FILE.subarray(SENT), { 'content-range': `bytes ${SENT}-23/24`, ...headers });

/** Fetches the file, with so many tries in all. */
async function get(server: BreakingServer, { tries = 3, headers = {}, path = '/a' } = {}) {
  const fetcher = new FileFetcher({
    allowedTargets: [{ address: '127.0.0.1', prefixBits: 32, port: server.port }],
    ca: testAuthority.cert,
  });
  const failures: string[] = [];
  const nextTry = async ({ reason, httpStatus }: FetchError) =>
    failures.push(httpStatus === null ? reason : `${reason} ${httpStatus}`) < tries;
  const { signal } = new AbortController();
  using file = await fetcher.open({ url: server.origin + path, headers, accountId: 'acct_x', signal, nextTry });
  const chunks: Uint8Array[] = [];
  const error = await (async () => {
    for await (const chunk of file.bytes) {
      chunks.push(chunk);
      // Earlier, the break might come before the bytes.
      if (Buffer.concat(chunks).length === SENT) server.breakOff();
    }
    return null;
  })().catch((cause: unknown) => cause);
  return { bytes: Buffer.concat(chunks), error, failures };
}

const rangesOf = ({ requests }: AudioServer) =>
  requests.map(({ headers }: AudioRequest) => [headers.range, headers['if-range']]);

const VERSIONS: [string, Headers, string][] = [
  ['a strong ETag', { etag: '"v1"', 'last-modified': MODIFIED }, '"v1"'],
  ['a date', { 'last-modified': MODIFIED }, MODIFIED],
];
for (const [what, headers, version] of VERSIONS) {
  test(`a file with ${what} that broke off is resumed by Range, and is whole`, async () => {
    await using server = await breakingOff(headers, rest(headers));

    const { bytes, error, failures } = await get(server);

    assert.deepEqual([bytes, error, failures], [FILE, null, ['connect']]);
    assert.deepEqual(rangesOf(server), [
      [undefined, undefined],
      [`bytes=${SENT}-`, version],
    ]);
  });
}

const UNVERSIONED: [string, Headers][] = [
  ['without a version', {}],
  ['with a weak ETag', { etag: 'W/"v1"', 'last-modified': MODIFIED }],
  ['that was changed in this second', { 'last-modified': MODIFIED, date: MODIFIED }],
];
for (const [what, headers] of UNVERSIONED) {
  test(`a file ${what} is not resumed`, async () => {
    await using server = await breakingOff(headers, rest());

    const { error, failures } = await get(server);

    assert.ok(error instanceof FetchError);
    assert.deepEqual([failures, server.requests.length], [[], 1]);
  });
}

const OTHER_FILES: [string, Handler][] = [
  ['another version from its start', answer(200, Buffer.from('another file'), { etag: '"v2"' })],
  ['the file without its version', answer(200, FILE)],
  ['a part of another version', rest({ etag: '"v2"' })],
  ['a part that begins elsewhere', rest({ etag: '"v1"', 'content-range': 'bytes 9-22/24' })],
  ['a part of a longer file', rest({ etag: '"v1"', 'content-range': 'bytes 10-23/25' })],
  ['a part of it knows not where', rest({ etag: '"v1"', 'content-range': 'pages 1' })],
];
for (const [what, handler] of OTHER_FILES) {
  test(`${what} is not joined to the bytes that came before, and ends the try`, async () => {
    await using server = await breakingOff({ etag: '"v1"' }, handler);

    const { bytes, error, failures } = await get(server);

    assert.deepEqual(bytes, FILE.subarray(0, SENT));
    assert.ok(error instanceof FetchError && error.reason === 'connect' && /changed/.test(error.message));
    assert.deepEqual([failures, server.requests.length], [['connect'], 2]);
  });
}

test('a server that sends the whole file again is read up to what is new', async () => {
  await using server = await breakingOff({ etag: '"v1"' }, answer(200, FILE, { etag: '"v1"' }));

  assert.deepEqual((await get(server)).bytes, FILE);
});

test('a part that is shorter than what was asked for is followed by the next', async () => {
  await using server = await breakingOff(
    { etag: '"v1"' },
    answer(206, FILE.subarray(SENT, 15), { etag: '"v1"', 'content-range': 'bytes 10-14/24' }),
    answer(206, FILE.subarray(15), { etag: '"v1"', 'content-range': 'bytes 15-23/*' }),
  );

  assert.deepEqual((await get(server)).bytes, FILE);
  assert.deepEqual(server.requests[2]!.headers.range, 'bytes=15-');
});

test('each failure asks for a next try, and without one it ends the fetch', async () => {
  await using server = await breakingOff({ etag: '"v1"' }, answer(503, Buffer.from('busy')), rest({ etag: '"v1"' }));
  await using busy = await breakingOff({ etag: '"v1"' }, answer(503, Buffer.from('busy')));

  const fine = await get(server);
  const failed = await get(busy, { tries: 2 });

  assert.deepEqual([fine.bytes, fine.failures], [FILE, ['connect', 'http_status 503']]);
  assert.deepEqual(failed.failures, ['connect', 'http_status 503']);
  assert.ok(failed.error instanceof FetchError && failed.error.httpStatus === 503);
});

test('a resumed file is behind its redirects again, with the headers of the client', async () => {
  await using server = await breakingOff({ etag: '"v1"' }, rest({ etag: '"v1"' }));

  const { bytes } = await get(server, { path: '/start', headers: { authorization: 'Bearer secret' } });

  assert.deepEqual(bytes, FILE);
  assert.deepEqual(
    server.requests.map(({ path, headers }) => [path, headers.authorization, headers.range]),
    [
      ['/start', 'Bearer secret', undefined],
      ['/file', 'Bearer secret', undefined],
      ['/start', 'Bearer secret', 'bytes=10-'],
      ['/file', 'Bearer secret', 'bytes=10-'],
    ],
  );
});
