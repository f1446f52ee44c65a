import assert from 'node:assert/strict';
import type net from 'node:net';
import { test } from 'node:test';
import tls from 'node:tls';
import { type HostileMode, openHostileReceiver } from '../../../test/fixtures/webhooks/hostile-receiver.ts';
import { openReceiver, testAuthority } from '../../../test/fixtures/webhooks/receiver.ts';
import type { PostReport } from './attempt.ts';
import { openPoster, type PosterOptions, type PostRequest } from './post.ts';

const TIMEOUT_MS = 20_000;
/** For receivers that use up the whole timeout. */
const SHORT = { timeoutMs: 1_000, maxWaitMs: 1_000 };

function testPoster(port: number, options: Partial<PosterOptions> = {}) {
  const poster = openPoster({
    timeoutMs: TIMEOUT_MS,
    maxWaitMs: TIMEOUT_MS,
    allowedTargets: [{ address: '127.0.0.1', prefixBits: 32, port }],
    ca: testAuthority.cert,
    askNameServers: async () => true,
    ...options,
  });
  return {
    post: (request: PostRequest) => poster.post(request),
    [Symbol.dispose]: () => poster.close(),
  };
}

const REQUEST = {
  accountId: 'acct_x',
  headers: { 'Content-Type': 'application/json', 'X-Service-Attempt': '1' },
  body: Buffer.from('{"a":1}'),
};

test('the receiver gets the body and headers unchanged, and the report has the duration of each phase', async () => {
  await using receiver = await openReceiver({
    reply: () => ({ status: 201, headers: { 'x-note': 'hi' }, body: 'thanks' }),
  });
  using poster = testPoster(receiver.port);

  const report = await poster.post({ ...REQUEST, url: `${receiver.url}?a=1` });

  assert.deepEqual(report?.result, { kind: 'answered', status: 201 });
  assert.equal(report.responseBody?.toString(), 'thanks');
  assert.equal(report.responseHeaders?.['x-note'], 'hi');
  assert.equal(report.remoteAddress, '127.0.0.1');
  assert.equal(report.dnsMs, null);
  assert.ok(report.connectMs! > 0 && report.tlsMs! > 0 && report.firstByteMs! > 0);
  assert.ok(report.durationMs >= report.firstByteMs!);
  const [request] = receiver.requests;
  assert.equal(request?.body.toString(), '{"a":1}');
  assert.equal(request?.path, '/hook?a=1');
  assert.ok(request?.rawHeaders.includes('X-Service-Attempt'));
});

test('the second post reuses the connection of the first', async () => {
  await using receiver = await openReceiver();
  using poster = testPoster(receiver.port);

  await poster.post({ ...REQUEST, url: receiver.url });
  const second = await poster.post({ ...REQUEST, url: receiver.url });

  assert.equal(second?.connectMs, null);
  assert.equal(receiver.connections(), 1);
});

test('concurrent posts to one host share a few connections', async () => {
  await using receiver = await openReceiver();
  using poster = testPoster(receiver.port);

  const reports = await Promise.all(
    Array.from({ length: 1_000 }, (_, at) => poster.post({ ...REQUEST, url: `${receiver.url}?${at}` })),
  );

  assert.ok(reports.every((report) => report?.result.kind === 'answered'));
  // 64, and on a busy machine one more for each that was in use for 50 ms.
  assert.ok(receiver.connections() < 700, String(receiver.connections()));
});

test('posts to a host whose connections all stay in use open their own', async () => {
  const held = Promise.withResolvers<void>();
  await using receiver = await openReceiver({
    async reply() {
      await held.promise;
      return { status: 200 };
    },
  });
  using poster = testPoster(receiver.port);

  const reports = Array.from({ length: 100 }, () => poster.post({ ...REQUEST, url: receiver.url }));
  await receiver.waitFor(100);
  held.resolve();

  assert.ok((await Promise.all(reports)).every((report) => report?.result.kind === 'answered'));
  assert.equal(receiver.connections(), 100);
});

test('connections that were closed, or never opened, are not counted against a host', async () => {
  await using receiver = await openReceiver({ reply: () => ({ status: 200, headers: { connection: 'close' } }) });
  const closed = await openReceiver();
  await closed[Symbol.asyncDispose]();
  // Too short for an attempt to open a connection beyond the shared ones.
  for (const [url, kind] of [
    [receiver.url, 'answered'],
    [closed.url, 'transport_error'],
  ] as const) {
    using poster = testPoster(Number(new URL(url).port), { maxWaitMs: 200 });
    for (let posted = 0; posted < 80; posted++) {
      const report = await poster.post({ ...REQUEST, url });

      assert.equal(report?.result.kind, kind, `post ${posted}`);
    }
  }
});

test('an idle connection that the receiver has closed is replaced within the attempt', async () => {
  await using receiver = await openReceiver({ reply: () => ({ status: 200, headers: { connection: 'close' } }) });
  using poster = testPoster(receiver.port);

  await poster.post({ ...REQUEST, url: receiver.url });
  const second = await poster.post({ ...REQUEST, url: receiver.url });

  assert.deepEqual(second?.result, { kind: 'answered', status: 200 });
  assert.equal(receiver.connections(), 2);
});

/** A receiver that answers the first request of each connection, and ends the second as it is told. */
async function openEndingReceiver(end: (socket: tls.TLSSocket, raw: net.Socket) => void) {
  const { key, cert } = testAuthority.issue({ hosts: ['127.0.0.1'] });
  const raws = new Map<string, net.Socket>();
  let requests = 0;
  const server = tls.createServer({ key, cert }, (socket) => {
    let ofConnection = 0;
    socket.on('error', () => undefined);
    socket.on('data', () => {
      requests += 1;
      ofConnection += 1;
      if (ofConnection === 1) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      else end(socket, raws.get(`${socket.remotePort}`)!);
    });
  });
  server.on('connection', (socket) => raws.set(`${socket.remotePort}`, socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as net.AddressInfo;
  return {
    port,
    url: `https://127.0.0.1:${port}/`,
    requests: () => requests,
    [Symbol.dispose]: () => void server.close(),
  };
}

for (const { title, idleMs, requests, result } of [
  {
    title: 'is reset after less than a second is not repeated at once: it may have been read',
    idleMs: 999,
    requests: 2,
    result: {
      kind: 'transport_error',
      reason: 'reset',
      message: 'The receiver closed the connection before it answered.',
    },
  },
  {
    title: 'is reset after a second is sent once more, on a new one',
    idleMs: 1_000,
    requests: 3,
    result: { kind: 'answered', status: 200 },
  },
]) {
  test(`a request on an idle connection that ${title}`, async () => {
    using receiver = await openEndingReceiver((_socket, raw) => raw.resetAndDestroy());
    let nowMs = 0;
    using poster = testPoster(receiver.port, { monotonicMs: () => nowMs });

    await poster.post({ ...REQUEST, url: receiver.url });
    nowMs = idleMs;
    const second = await poster.post({ ...REQUEST, url: receiver.url });

    assert.deepEqual(second?.result, result);
    assert.equal(receiver.requests(), requests);
  });
}

test('a request on a connection that the receiver ends is sent once more, on a new one', async () => {
  using receiver = await openEndingReceiver((socket) => socket.end());
  using poster = testPoster(receiver.port);

  await poster.post({ ...REQUEST, url: receiver.url });
  const second = await poster.post({ ...REQUEST, url: receiver.url });

  assert.deepEqual(second?.result, { kind: 'answered', status: 200 });
  assert.equal(receiver.requests(), 3);
});

const HOSTILE_MODES: [HostileMode, string][] = [
  ['hang', 'timeout'],
  ['hangBeforeTls', 'timeout'],
  ['dripHeader', 'timeout'],
  ['reset', 'reset'],
  ['resetBeforeTls', 'reset'],
  ['garbage', 'protocol'],
  ['bigHeader', 'protocol'],
  ['informational', 'protocol'],
  ['endlessContinue', 'protocol'],
  ['upgrade', 'protocol'],
  ['plainHttp', 'tls'],
  ['expired', 'tls'],
  ['notYetValid', 'tls'],
  ['wrongHost', 'tls'],
  ['selfSigned', 'tls'],
  ['unknownAuthority', 'tls'],
  ['tls11', 'tls'],
];
for (const [mode, reason] of HOSTILE_MODES) {
  test(`a receiver in mode ${mode} fails the attempt with reason ${reason}`, async () => {
    await using receiver = await openHostileReceiver(mode);
    using poster = testPoster(receiver.port, reason === 'timeout' ? SHORT : {});

    const report = await poster.post({ ...REQUEST, url: receiver.url });

    assert.equal(report?.result.kind, 'transport_error');
    assert.equal(reasonOf(report), reason);
    assert.ok(reason !== 'tls' || receiver.requestBytes() === 0);
  });
}

const TLS_FAILURES: [HostileMode, string][] = [
  ['expired', 'its certificate has expired (CERT_HAS_EXPIRED).'],
  ['notYetValid', 'its certificate is not valid yet (CERT_NOT_YET_VALID).'],
  ['wrongHost', 'its certificate is for another name (ERR_TLS_CERT_ALTNAME_INVALID).'],
  ['selfSigned', 'its certificate is signed by itself (DEPTH_ZERO_SELF_SIGNED_CERT).'],
  [
    'unknownAuthority',
    'its certificate is signed by an authority that is not trusted, or the certificates between the two are not sent (UNABLE_TO_VERIFY_LEAF_SIGNATURE).',
  ],
  ['tls11', 'it speaks no TLS 1.2 or newer (ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION).'],
];
for (const [mode, why] of TLS_FAILURES) {
  test(`the error of a receiver in mode ${mode} says why the handshake failed`, async () => {
    await using receiver = await openHostileReceiver(mode);
    using poster = testPoster(receiver.port);

    const report = await poster.post({ ...REQUEST, url: receiver.url });

    const message = `The TLS handshake with the receiver failed: ${why}`;
    assert.deepEqual(report?.result, { kind: 'transport_error', reason: 'tls', message });
  });
}

for (const interim of ['100 Continue', '102 Processing', '103 Early Hints']) {
  test(`an interim answer ${interim} is read over, on a new connection and on a reused one`, async () => {
    await using receiver = await openReceiver({ interim: `HTTP/1.1 ${interim}\r\nx-note: wait\r\n\r\n` });
    using poster = testPoster(receiver.port);

    for (const attempt of [1, 2, 3]) {
      const report = await poster.post({ ...REQUEST, url: receiver.url });

      assert.deepEqual(report?.result, { kind: 'answered', status: 204 }, `attempt ${attempt}`);
    }
    assert.equal(receiver.connections(), 1);
  });
}

for (const mode of ['selfSigned', 'hangBeforeTls', 'resetBeforeTls'] as const) {
  test(`a TLS handshake that fails in mode ${mode} leaves the duration of the TCP connection in the report`, async () => {
    await using receiver = await openHostileReceiver(mode);
    using poster = testPoster(receiver.port, mode === 'hangBeforeTls' ? SHORT : {});

    const report = await poster.post({ ...REQUEST, url: receiver.url });

    assert.ok(report!.connectMs! > 0 && report!.connectMs! <= report!.durationMs);
    assert.equal(report?.tlsMs, null);
    // Nothing was sent.
    assert.equal(report?.remoteAddress, null);
  });
}

for (const mode of ['dripBody', 'endlessBody', 'gzipBomb', 'brokenBody'] as const) {
  test(`a 2xx with a body in mode ${mode} counts as delivered, and at most 4 KiB of it are kept`, async () => {
    await using receiver = await openHostileReceiver(mode);
    using poster = testPoster(receiver.port, SHORT);

    const report = await poster.post({ ...REQUEST, url: receiver.url });

    assert.deepEqual(report?.result, { kind: 'answered', status: 200 });
    assert.ok(report.responseBody!.length > 0 && report.responseBody!.length <= 4096);
  });
}

for (const status of [301, 302, 303, 307, 308]) {
  test(`a redirect by ${status} is reported and not followed`, async () => {
    await using canary = await openReceiver();
    await using receiver = await openReceiver({ reply: () => ({ status, headers: { location: canary.url } }) });
    using poster = testPoster(receiver.port);

    const report = await poster.post({ ...REQUEST, url: receiver.url });

    assert.deepEqual(report?.result, { kind: 'answered', status });
    assert.equal(canary.connections(), 0);
  });
}

test('a closed port fails with connect', async () => {
  const receiver = await openReceiver();
  await receiver[Symbol.asyncDispose]();
  using poster = testPoster(receiver.port);

  const report = await poster.post({ ...REQUEST, url: receiver.url });

  assert.equal(reasonOf(report), 'connect');
});

const ANSWERS: [string, string[]][] = [
  ['a private address', ['10.0.0.1']],
  ['one allowed and one private address', ['127.0.0.1', '10.0.0.1']],
  ['a mapped address', ['::ffff:169.254.169.254']],
  ['no address', []],
];
for (const [what, addresses] of ANSWERS) {
  test(`a name that resolves to ${what} fails with forbidden_address and is not connected to`, async () => {
    await using receiver = await openReceiver();
    using poster = testPoster(receiver.port, { lookup: async () => addresses });

    const report = await poster.post({ ...REQUEST, url: `https://hooks.example.com:${receiver.port}/` });

    assert.deepEqual(report?.result, {
      kind: 'transport_error',
      reason: 'forbidden_address',
      message: 'The receiver is at an address that webhooks may not point to.',
    });
    assert.equal(receiver.connections(), 0);
    assert.equal(report.remoteAddress, null);
  });
}

test('the address of a name is checked again before an idle connection is reused', async () => {
  await using receiver = await openReceiver({
    certificate: testAuthority.issue({ hosts: ['hooks.example.com'] }),
  });
  const answers = [['127.0.0.1'], ['10.0.0.1']];
  using poster = testPoster(receiver.port, { lookup: async () => answers.shift()! });
  const url = `https://hooks.example.com:${receiver.port}/`;

  const first = await poster.post({ ...REQUEST, url });
  const second = await poster.post({ ...REQUEST, url });

  assert.deepEqual(first?.result, { kind: 'answered', status: 204 });
  assert.equal(reasonOf(second), 'forbidden_address');
  assert.equal(receiver.requests.length, 1);
});

test('an address literal is never looked up', async () => {
  await using receiver = await openReceiver();
  let lookups = 0;
  using poster = testPoster(receiver.port, { lookup: async () => [`10.0.0.${++lookups}`] });

  const report = await poster.post({ ...REQUEST, url: receiver.url });

  assert.deepEqual(report?.result, { kind: 'answered', status: 204 });
  assert.equal(lookups, 0);
});

test('a name that does not resolve, or not in time, fails with dns', async () => {
  const lookups = [
    () => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' })),
    () => new Promise<string[]>(() => undefined),
  ];
  for (const lookup of lookups) {
    using poster = testPoster(443, { ...SHORT, lookup });

    const report = await poster.post({ ...REQUEST, url: 'https://hooks.example.com/' });

    assert.equal(reasonOf(report), 'dns');
  }
});

test('an attempt whose DNS lookup cannot start in time does not start', async () => {
  using poster = testPoster(443, { ...SHORT, lookup: () => new Promise(() => undefined) });
  const post = (index: number, accountId: string) =>
    poster.post({ ...REQUEST, accountId, url: `https://w${index}.example.org/` });
  const hanging = Array.from({ length: 8 }, (_, index) => post(index, 'acct_a'));

  const [late, other] = await Promise.all([post(8, 'acct_a'), post(9, 'acct_b')]);

  assert.equal(late, null);
  assert.equal(other?.result.kind === 'transport_error' && other.result.reason, 'dns');
  assert.ok((await Promise.all(hanging)).every((report) => report?.dnsMs === null && report.durationMs < 1_500));
});

test('a receiver that hangs in the TLS handshake delays others only briefly', async () => {
  await using hanging = await openHostileReceiver('hangBeforeTls');
  await using healthy = await openReceiver();
  using poster = openTwoTargetPoster(hanging.port, healthy.port);

  const stuck = poster.post({ ...REQUEST, url: hanging.url });
  const good = await poster.post({ ...REQUEST, url: healthy.url });

  assert.deepEqual(good?.result, { kind: 'answered', status: 204 });
  assert.equal(reasonOf(await stuck), 'timeout');
});

function reasonOf(report: PostReport | null): string | null {
  return report?.result.kind === 'transport_error' ? report.result.reason : null;
}

function openTwoTargetPoster(...ports: number[]) {
  const allowedTargets = ports.map((port) => ({ address: '127.0.0.1', prefixBits: 32, port }));
  return testPoster(ports[0]!, { ...SHORT, allowedTargets, maxHandshakes: 1 });
}
