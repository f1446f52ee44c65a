import assert from 'node:assert/strict';
import net from 'node:net';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { type Handler, openAudioServer, serveFile } from '../../../test/fixtures/servers/audio-server.ts';
import { startTinyproxy, WITHOUT_TINYPROXY } from '../../../test/fixtures/servers/egress-proxy.ts';
import { type HostileMode, openHostileReceiver } from '../../../test/fixtures/webhooks/hostile-receiver.ts';
import { testAuthority } from '../../../test/fixtures/webhooks/receiver.ts';
import { type FetcherOptions, type FetchRequest, FileFetcher } from './fetch.ts';
import { FetchError } from './fetch-error.ts';

const TIMES = { connectMs: 1_000, headersMs: 500, stallMs: 300 };
// For a busy machine.
const PATIENT = { connectMs: 60_000, headersMs: 60_000, stallMs: 1_500 };
const FILE = Buffer.from('these bytes are the file');
const never = () => new AbortController().signal;
const once = async () => false;

/** A fetcher that may connect to the ports on 127.0.0.1. Every name leads there. */
function fetcherFor(ports: readonly number[], options: Partial<FetcherOptions> = {}) {
  const fetcher = new FileFetcher({
    allowedTargets: ports.map((port) => ({ address: '127.0.0.1', prefixBits: 32, port })),
    ca: testAuthority.cert,
    times: TIMES,
    lookup: async () => ['127.0.0.1'],
    ...options,
  });
  async function get(url: string, more: Partial<FetchRequest> = {}): Promise<Buffer> {
    using file = await fetcher.open({ url, headers: {}, accountId: 'acct_x', signal: never(), nextTry: once, ...more });
    const chunks: Uint8Array[] = [];
    for await (const chunk of file.bytes) chunks.push(chunk);
    return Buffer.concat(chunks);
  }
  return { fetcher, get };
}

/** The reason and the status of a failure; its message must name neither address nor port. */
async function failureOf(fetching: Promise<unknown>): Promise<[string, number | null] | string> {
  const error = await fetching.then(
    () => new Error('it was fetched'),
    (cause: Error) => cause,
  );
  assert.doesNotMatch(error.message, /127\.0\.0|localhost|\d{4}/);
  return error instanceof FetchError ? [error.reason, error.httpStatus] : error.message;
}

const redirectTo =
  (location: string, status = 302): Handler =>
  (_request, response) =>
    void response.writeHead(status, { location }).end('moved');

test('a file is fetched by GET, uncompressed, with its size, media type and name', async () => {
  const named = { 'content-type': 'Audio/MPEG; q=1', 'content-disposition': 'attachment; filename="my call.mp3"' };
  await using server = await openAudioServer(serveFile(FILE, named));
  const { fetcher } = fetcherFor([server.port]);

  using file = await fetcher.open({
    url: `${server.origin}/a?b=c`,
    headers: {},
    accountId: 'acct_x',
    signal: never(),
    nextTry: once,
  });
  const bytes = await Array.fromAsync(file.bytes);

  assert.deepEqual(Buffer.concat(bytes), FILE);
  assert.deepEqual([file.sizeBytes, file.mediaType, file.filename], [FILE.length, 'audio/mpeg', 'my call.mp3']);
  const { method, path, headers } = server.requests[0]!;
  assert.deepEqual([method, path], ['GET', '/a?b=c']);
  assert.equal(headers.host, `127.0.0.1:${server.port}`);
  assert.equal(headers['accept-encoding'], 'identity');
  assert.match(headers['user-agent']!, /^Verbatim\//);
});

test('a file without a length, in chunks, is whole', async () => {
  await using server = await openAudioServer((_request, response) => {
    response.write('these bytes ');
    response.end('are the file');
  });

  assert.deepEqual(await fetcherFor([server.port]).get(`${server.origin}/a`), FILE);
});

for (const status of [301, 302, 303, 307, 308]) {
  test(`a redirect by ${status} is followed with GET`, async () => {
    await using server = await openAudioServer((request, response, index) =>
      request.path === '/file'
        ? serveFile(FILE)(request, response, index)
        : redirectTo('/file', status)(request, response, index),
    );

    assert.deepEqual(await fetcherFor([server.port]).get(`${server.origin}/start`), FILE);
    assert.deepEqual(
      server.requests.map(({ method, path }) => `${method} ${path}`),
      ['GET /start', 'GET /file'],
    );
  });
}

test('five redirects are followed, the sixth is refused', async () => {
  await using server = await openAudioServer((request, response, index) => {
    const left = Number(request.path.slice(1));
    if (left === 0) serveFile(FILE)(request, response, index);
    else redirectTo(`/${left - 1}`)(request, response, index);
  });
  const { get } = fetcherFor([server.port]);

  assert.deepEqual(await get(`${server.origin}/5`), FILE);
  assert.deepEqual(await failureOf(get(`${server.origin}/6`)), ['redirect', null]);
});

test('headers of the client go to the first origin only, and are not sent again on the way back', async () => {
  await using other = await openAudioServer((request, response, index) => {
    redirectTo(`${server.origin}/back`)(request, response, index);
  });
  await using server = await openAudioServer((request, response, index) => {
    if (request.path === '/start') redirectTo('/same')(request, response, index);
    else if (request.path === '/same') redirectTo(`${other.origin}/there`)(request, response, index);
    else serveFile(FILE)(request, response, index);
  });
  const headers = { authorization: 'Bearer secret', 'x-own': 'mine', 'user-agent': 'mine' };

  await fetcherFor([server.port, other.port]).get(`${server.origin}/start`, { headers });

  const seen = [...server.requests, ...other.requests].map(({ path, headers: sent }) => [
    ...[path, sent.authorization, sent['x-own'], sent['user-agent'] === 'mine'],
  ]);
  assert.deepEqual(seen, [
    ['/start', 'Bearer secret', 'mine', true],
    ['/same', 'Bearer secret', 'mine', true],
    ['/back', undefined, undefined, false],
    ['/there', undefined, undefined, false],
  ]);
});

test('each hop is subject to the rules: a forbidden one gets no connection', async () => {
  let connections = 0;
  const canary = net.createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => canary.listen(0, '127.0.0.1', resolve));
  const { port } = canary.address() as net.AddressInfo;
  const forbidden = [
    ...[`https://127.0.0.1:${port}/`, `https://localhost:${port}/`, `https://[::ffff:127.0.0.1]:${port}/`],
    ...['https://169.254.169.254/latest/', 'https://metadata.google.internal/', `https://a.example.com:${port}/`],
  ];
  await using server = await openAudioServer((request, response, index) => {
    redirectTo(forbidden[Number(request.path.slice(1))]!)(request, response, index);
  });
  const { get } = fetcherFor([server.port]);

  const failures = await Promise.all(forbidden.map((_, index) => failureOf(get(`${server.origin}/${index}`))));
  const first = await Promise.all(forbidden.map((url) => failureOf(get(url))));
  canary.close();

  assert.deepEqual([...failures, ...first], Array(2 * forbidden.length).fill(['forbidden_address', null]));
  assert.equal(connections, 0);
});

test('a redirect from https to http is refused, also where the operator opened the address for http', async () => {
  await using plain = await openAudioServer(serveFile(FILE), { isTls: false });
  await using server = await openAudioServer(redirectTo(`${plain.origin}/file`));

  assert.deepEqual(await failureOf(fetcherFor([server.port, plain.port]).get(`${server.origin}/a`)), [
    'redirect',
    null,
  ]);
  assert.equal(plain.requests.length, 0);
});

test('http is fetched from addresses that the operator opened, and from no others', async () => {
  await using plain = await openAudioServer(serveFile(FILE), { isTls: false });
  const { get } = fetcherFor([plain.port]);
  const elsewhere = fetcherFor([plain.port], { lookup: async () => ['93.184.216.34'] });

  assert.deepEqual(await get(`${plain.origin}/a`), FILE);
  assert.deepEqual(await get(`http://a.example.com:${plain.port}/a`), FILE);
  assert.deepEqual(await failureOf(elsewhere.get(`http://a.example.com:${plain.port}/a`)), ['forbidden_address', null]);
  assert.deepEqual(await failureOf(fetcherFor([]).get('http://a.example.com/a')), ['forbidden_address', null]);
});

test('a name is resolved once per hop, and the connection goes to the address that was checked', async () => {
  await using server = await openAudioServer((request, response, index) => {
    if (request.path === '/file') serveFile(FILE)(request, response, index);
    else redirectTo(`https://b.example.com:${server.port}/file`)(request, response, index);
  });
  const asked: string[] = [];
  // Every second look-up gives a private address, as of a server that rebinds its name.
  const lookup = async (name: string) => {
    const isAgain = asked.includes(name);
    asked.push(name);
    return [isAgain ? '10.0.0.5' : '127.0.0.1'];
  };
  const { get } = fetcherFor([server.port], { lookup });

  assert.deepEqual(await get(`https://a.example.com:${server.port}/`), FILE);
  assert.deepEqual(asked, ['a.example.com', 'b.example.com']);
  const again = await failureOf(get(`https://a.example.com:${server.port}/`));
  assert.deepEqual(again, ['forbidden_address', null]);
  assert.equal(server.requests.length, 2);
});

test('one forbidden address among those of a name refuses it', async () => {
  await using server = await openAudioServer(serveFile(FILE));
  const lookup = async () => ['127.0.0.1', '10.0.0.5'];

  const failure = await failureOf(fetcherFor([server.port], { lookup }).get(`https://a.example.com:${server.port}/`));

  assert.deepEqual(failure, ['forbidden_address', null]);
  assert.equal(server.requests.length, 0);
});

for (const status of [201, 204, 206, 304, 401, 403, 404, 410, 429, 500, 503]) {
  test(`an answer of ${status} is no file`, async () => {
    await using server = await openAudioServer((_request, response) => {
      response.writeHead(status, { 'retry-after': '7' }).end();
    });

    const error = await fetcherFor([server.port])
      .get(`${server.origin}/a`)
      .catch((cause: unknown) => cause);

    assert.ok(error instanceof FetchError);
    assert.deepEqual([error.reason, error.httpStatus, error.retryAfter], ['http_status', status, '7']);
  });
}

test('a compressed answer is refused, and an identity coding is not', async () => {
  await using zipped = await openAudioServer(serveFile(gzipSync(FILE), { 'content-encoding': 'gzip' }));
  await using plain = await openAudioServer(serveFile(FILE, { 'content-encoding': 'identity' }));
  const { get } = fetcherFor([zipped.port, plain.port]);

  assert.match((await failureOf(get(`${zipped.origin}/a`))) as string, /compressed/);
  assert.deepEqual(await get(`${plain.origin}/a`), FILE);
});

test('a body that ends early is a broken connection', async () => {
  await using server = await openAudioServer((_request, response) => {
    response.writeHead(200, { 'content-length': 1_000 });
    response.write('half', () => response.destroy());
  });

  assert.deepEqual(await failureOf(fetcherFor([server.port]).get(`${server.origin}/a`)), ['connect', null]);
});

test('a body that stalls ends the fetch, and so does one that drips', async () => {
  await using stalled = await openAudioServer((_request, response) => void response.write(Buffer.alloc(100_000)));
  await using dripping = await openAudioServer((_request, response) => {
    const timer = setInterval(() => response.write('x'), 10);
    response.on('close', () => clearInterval(timer));
  });
  const { get } = fetcherFor([stalled.port, dripping.port]);

  assert.deepEqual(await failureOf(get(`${stalled.origin}/a`)), ['timeout', null]);
  assert.deepEqual(await failureOf(get(`${dripping.origin}/a`)), ['timeout', null]);
});

test('time in which the reader is slow does not count as a stall, and nothing is read ahead of it', async () => {
  let sentBytes = 0;
  const total = 64 * 2 ** 20;
  await using server = await openAudioServer((_request, response) => {
    response.writeHead(200, { 'content-length': total });
    const pour = () => {
      while (sentBytes < total) {
        sentBytes += 2 ** 16;
        if (!response.write(Buffer.alloc(2 ** 16))) return void response.once('drain', pour);
      }
      response.end();
    };
    pour();
  });
  const { fetcher } = fetcherFor([server.port], { times: PATIENT });
  using file = await fetcher.open({
    url: `${server.origin}/a`,
    headers: {},
    accountId: 'acct_x',
    signal: never(),
    nextTry: once,
  });
  let readBytes = 0;
  let isFirst = true;
  for await (const chunk of file.bytes) {
    readBytes += chunk.length;
    if (!isFirst) continue;
    isFirst = false;
    await new Promise((resolve) => setTimeout(resolve, 2 * PATIENT.stallMs));
    assert.ok(sentBytes < 24 * 2 ** 20, `${sentBytes} bytes were sent while one chunk was read`);
  }

  assert.equal(readBytes, total);
});

test('interim answers before the file are read over', async () => {
  await using server = await openAudioServer((_request, response) => {
    response.writeContinue();
    response.writeProcessing();
    response.writeEarlyHints({ link: '</a>; rel=preload' });
    response.end(FILE);
  });

  assert.deepEqual(await fetcherFor([server.port]).get(`${server.origin}/a`), FILE);
});

const HOSTILE: Partial<Record<HostileMode, [string, number | null]>> = {
  hang: ['timeout', null],
  reset: ['connect', null],
  garbage: ['connect', null],
  dripHeader: ['timeout', null],
  bigHeader: ['connect', null],
  informational: ['timeout', null],
  endlessContinue: ['timeout', null],
  upgrade: ['connect', null],
  brokenBody: ['connect', null],
  twoLengths: ['connect', null],
  hangBeforeTls: ['timeout', null],
  resetBeforeTls: ['connect', null],
  plainHttp: ['tls', null],
  expired: ['tls', null],
  notYetValid: ['tls', null],
  wrongHost: ['tls', null],
  selfSigned: ['tls', null],
  unknownAuthority: ['tls', null],
  tls11: ['tls', null],
};
for (const [mode, failure] of Object.entries(HOSTILE)) {
  test(`a server with the fault ${mode} ends the fetch with ${failure[0]}`, async () => {
    await using server = await openHostileReceiver(mode as HostileMode);

    assert.deepEqual(await failureOf(fetcherFor([server.port]).get(server.url)), failure);
  });
}

test('a name that does not resolve, and one whose servers are silent, end the fetch with dns', async () => {
  const unknown = async () => {
    throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
  };
  const silent = () => new Promise<string[]>(() => undefined);

  assert.deepEqual(await failureOf(fetcherFor([], { lookup: unknown }).get('https://a.example.com/')), ['dns', null]);
  assert.deepEqual(await failureOf(fetcherFor([], { lookup: silent }).get('https://a.example.com/')), ['dns', null]);
});

test('a port that nobody listens on ends the fetch with connect', async () => {
  const server = await openAudioServer(serveFile(FILE));
  await server[Symbol.asyncDispose]();

  assert.deepEqual(await failureOf(fetcherFor([server.port]).get(`${server.origin}/a`)), ['connect', null]);
});

for (const when of ['before the answer', 'while the body is read'] as const) {
  test(`an abort ${when} closes the connection, and is reported with its reason`, async () => {
    const closed = Promise.withResolvers<void>();
    await using server = await openAudioServer((_request, response) => {
      response.on('close', () => closed.resolve());
      if (when === 'while the body is read') response.write(Buffer.alloc(1_000));
    });
    const abort = new AbortController();
    const { get } = fetcherFor([server.port], { times: { connectMs: 60_000, headersMs: 60_000, stallMs: 60_000 } });
    const getting = get(`${server.origin}/a`, { signal: abort.signal });
    getting.catch(() => undefined);
    await server.waitFor(1);

    abort.abort(new Error('it is over'));

    await assert.rejects(getting, /it is over/);
    await closed.promise;
  });
}

test('through the egress proxy, with TLS and without', { skip: WITHOUT_TINYPROXY }, async () => {
  await using server = await openAudioServer(serveFile(FILE));
  await using plain = await openAudioServer(serveFile(FILE), { isTls: false });
  await using proxy = await startTinyproxy([server.port, plain.port]);
  const { get } = fetcherFor([server.port, plain.port], { proxyUrl: `http://verbatim:pass.word@${proxy.address}` });

  assert.deepEqual(await get(`https://a.example.com:${server.port}/a`), FILE);
  assert.deepEqual(await get(`${plain.origin}/a`), FILE);
  assert.match(proxy.logText(), new RegExp(`CONNECT 127.0.0.1:${plain.port}`));
});
