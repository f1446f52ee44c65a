import assert from 'node:assert/strict';
import net from 'node:net';
import { test } from 'node:test';
import {
  startSquid,
  startTinyproxy,
  WITHOUT_SQUID,
  WITHOUT_TINYPROXY,
} from '../../../test/fixtures/servers/egress-proxy.ts';
import { until } from '../../../test/fixtures/until.ts';
import { openHostileReceiver } from '../../../test/fixtures/webhooks/hostile-receiver.ts';
import { openReceiver, testAuthority } from '../../../test/fixtures/webhooks/receiver.ts';
import { readProxy } from '../../egress/tunnel.ts';
import { openPoster, type PosterOptions } from './post.ts';

const CREDENTIALS = 'verbatim:pass.word@';

function posterBehind(proxyUrl: string, ports: readonly number[], options: Partial<PosterOptions> = {}) {
  const poster = openPoster({
    timeoutMs: 10_000,
    maxWaitMs: 10_000,
    proxyUrl,
    ca: testAuthority.cert,
    allowedTargets: ports.map((port) => ({ address: '127.0.0.1', prefixBits: 32, port })),
    lookup: async () => ['127.0.0.1'],
    ...options,
  });
  const post = (url: string) =>
    poster.post({ url, accountId: 'acct_x', headers: { 'Content-Type': 'application/json' }, body: Buffer.from('{}') });
  async function outcome(url: string) {
    const report = await post(url);
    return report?.result.kind === 'transport_error' ? report.result.reason : report?.result.status;
  }
  return { post, outcome, [Symbol.dispose]: () => poster.close() };
}

/** A server that answers any data with these bytes; null for no answer. */
async function openListener(answer: string | null) {
  let connections = 0;
  const server = net.createServer((socket) => {
    connections += 1;
    socket.on('error', () => undefined);
    socket.on('data', () => answer !== null && socket.write(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`,
    connections: () => connections,
    [Symbol.dispose]: () => void server.close(),
  };
}

test('readProxy reads host, port, TLS and credentials from the URL', () => {
  assert.deepEqual(readProxy('https://verbatim:pass%3Aword@[::1]'), {
    host: '::1',
    port: 443,
    isTls: true,
    authorization: `Basic ${Buffer.from('verbatim:pass:word').toString('base64')}`,
  });
  assert.deepEqual(readProxy('http://proxy.example:3128'), {
    host: 'proxy.example',
    port: 3128,
    isTls: false,
    authorization: null,
  });
});

test('a delivery goes through the proxy to the checked address, and the certificate of the receiver is verified', {
  skip: WITHOUT_TINYPROXY,
}, async () => {
  await using receiver = await openReceiver();
  await using wrongHost = await openHostileReceiver('wrongHost');
  await using proxy = await startTinyproxy([receiver.port, wrongHost.port]);
  using poster = posterBehind(`http://${CREDENTIALS}${proxy.address}`, [receiver.port, wrongHost.port]);

  const first = await poster.post(`https://localhost:${receiver.port}/hook`);
  const second = await poster.post(`https://localhost:${receiver.port}/hook`);
  const wrong = await poster.outcome(wrongHost.url);

  assert.deepEqual([first?.result, second?.result], Array(2).fill({ kind: 'answered', status: 204 }));
  assert.equal(first?.remoteAddress, '127.0.0.1');
  assert.ok(first.connectMs! > 0 && first.tlsMs! > 0);
  assert.equal(receiver.connections(), 1);
  assert.equal(wrong, 'tls');
  assert.equal(wrongHost.requestBytes(), 0);
  const logged = await until('the log of the proxy', () => proxy.logText().match(/CONNECT \S+/g));
  assert.deepEqual(
    new Set(logged),
    new Set([receiver.port, wrongHost.port].map((port) => `CONNECT 127.0.0.1:${port}`)),
  );
});

test('a receiver that the proxy refuses or cannot reach fails with the documented reason', {
  skip: WITHOUT_TINYPROXY,
}, async () => {
  await using receiver = await openReceiver();
  await using proxy = await startTinyproxy([1]);
  const url = (port: number) => `https://127.0.0.1:${port}/`;
  using strange = posterBehind(`http://verbatim:wrong@${proxy.address}`, [1]);
  using known = posterBehind(`http://${CREDENTIALS}${proxy.address}`, [1, receiver.port]);
  using nowhere = posterBehind('http://127.0.0.1:1', [receiver.port]);

  assert.equal(await strange.outcome(url(1)), 'connect');
  assert.equal(await known.outcome(url(1)), 'connect');
  assert.equal(await known.outcome(url(receiver.port)), 'forbidden_address');
  assert.equal(await nowhere.outcome(url(receiver.port)), 'connect');
  assert.equal(receiver.connections(), 0);
});

test('the connection to the proxy may use TLS, with the TLS connection to the receiver inside', {
  skip: WITHOUT_SQUID,
}, async () => {
  await using receiver = await openReceiver();
  await using wrongHost = await openHostileReceiver('wrongHost');
  await using proxy = await startSquid();
  using poster = posterBehind(`https://${proxy.address}`, [receiver.port, wrongHost.port, 1]);
  using distrustful = posterBehind(`https://${proxy.address}`, [receiver.port], { ca: undefined });

  assert.equal(await poster.outcome(`https://localhost:${receiver.port}/hook`), 204);
  assert.equal(await poster.outcome(wrongHost.url), 'tls');
  assert.equal(await poster.outcome('https://127.0.0.1:1/'), 'connect');
  assert.equal(await distrustful.outcome(receiver.url), 'connect');
  assert.equal(receiver.connections(), 1);
});

test('a forbidden address is never sent to the proxy', async () => {
  using proxy = await openListener(null);
  using poster = posterBehind(proxy.url, [], { lookup: async () => ['10.0.0.5'] });

  assert.equal(await poster.outcome('https://moved.example.org/'), 'forbidden_address');
  assert.equal(proxy.connections(), 0);
});

const ANSWERS: [string, string | null, string][] = [
  ['nothing', null, 'timeout'],
  ['an end of headers that never comes', 'x'.repeat(20_000), 'connect'],
  ['no HTTP', 'SSH-2.0-x\r\n\r\n', 'connect'],
  ['bytes behind its headers', 'HTTP/1.1 200 OK\r\n\r\nmore', 'connect'],
  ['100 before 200, and then no TLS', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n', 'tls'],
  ['101', 'HTTP/1.1 101 Switching Protocols\r\n\r\nHTTP/1.1 200 OK\r\n\r\n', 'connect'],
  ['100 only', 'HTTP/1.1 100 Continue\r\n\r\n', 'timeout'],
  ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n', 'connect'],
  ['302 to an address of the network', 'HTTP/1.1 302 x\r\nLocation: http://169.254.169.254/\r\n\r\n', 'connect'],
  ['504', 'HTTP/1.1 504 Gateway Timeout\r\n\r\n', 'timeout'],
  ['407 by the rules of Smokescreen', 'HTTP/1.1 407 x\r\nX-Smokescreen-Error: denied\r\n\r\n', 'forbidden_address'],
];
for (const [what, answer, reason] of ANSWERS) {
  test(`a proxy that answers ${what} fails the attempt in time with ${reason}`, async () => {
    using proxy = await openListener(answer);
    using poster = posterBehind(proxy.url, [1], { timeoutMs: 500 });

    const report = await poster.post('https://127.0.0.1:1/');

    assert.equal(report?.result.kind === 'transport_error' && report.result.reason, reason);
    assert.ok(report!.durationMs < 1_500);
  });
}
