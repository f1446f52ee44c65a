import assert from 'node:assert/strict';
import net from 'node:net';
import test from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { wavFile } from '../fixtures/audio/wav.ts';
import { readEvents } from '../fixtures/event-stream.ts';
import { descendantsOf } from '../fixtures/processes/process-list.ts';
import { randomFrom } from '../fixtures/random.ts';
import { openService, type TestService } from '../fixtures/service.ts';

const RESET_DELAYS_MS = [0, 1, 5];
const REPEATS = 4;
const SEED = 20261122;

/** What a client may send before it resets its connection. `key` is a good API key. */
function oddRequests(key: string): [string, string | Buffer][] {
  const head = `Host: x\r\nX-API-Key: ${key}\r\n`;
  const upload = `POST /v1/transcribe HTTP/1.1\r\n${head}Content-Type: multipart/form-data; boundary=b\r\n`;
  const part = '--b\r\nContent-Disposition: form-data; name="audio"; filename="a.wav"\r\n\r\n';
  const get = `GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n`;
  const upgrade = 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade';
  return [
    ['nothing', ''],
    ['CONNECT', 'CONNECT x:1 HTTP/1.1\r\n\r\n'],
    ['CONNECT and bytes for the tunnel', `CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n${'a'.repeat(100_000)}`],
    ['CONNECT behind a request', `${get}CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n`],
    ['a WebSocket upgrade', `${upgrade}\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\r\n`],
    ['an upgrade behind a request', `${get}${upgrade}\r\nUpgrade: websocket\r\n\r\n`],
    ['an h2c upgrade', `${upgrade}, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n`],
    ['an upgrade of an upload', `${upload}Connection: Upgrade\r\nUpgrade: x\r\nContent-Length: 900\r\n\r\n${part}`],
    ['the HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0'],
    ['a TLS greeting', Buffer.from('16030102000100 01fc0303'.replace(' ', ''), 'hex')],
    ['Expect: 100-continue', `${upload}Expect: 100-continue\r\nContent-Length: 1000\r\n\r\n`],
    [
      'Expect without a key',
      'POST /v1/transcribe HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n',
    ],
    ['another Expect', `${upload}Expect: miracles\r\nContent-Length: 1000\r\n\r\n`],
    ['half of the headers', 'GET /healthz HTTP/1.1\r\nHost: x\r\nX-A'],
    [
      'half of a JSON body',
      `POST /v1/webhooks HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: 90\r\n\r\n{"url`,
    ],
    ['half of an upload', `${upload}Content-Length: 900000\r\n\r\n${part}${'a'.repeat(70_000)}`],
    ['half of a chunk', `${upload}Transfer-Encoding: chunked\r\n\r\nffff\r\n${part}`],
    ['a broken chunk', `${upload}Transfer-Encoding: chunked\r\n\r\nzz\r\n`],
    ['a broken request behind a request', `${get}garbage\r\n\r\n`],
    ['garbage', 'garbage\r\n\r\n'],
    ['NULs', Buffer.alloc(10_000)],
    ['headers over their limit', `GET / HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(40_000)}\r\n\r\n`],
    ['a line over its limit', `GET /${'a'.repeat(40_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
    [
      'a body over its limit',
      `POST /v1/webhooks HTTP/1.1\r\n${head}Content-Length: 999999999\r\n\r\n${'a'.repeat(70_000)}`,
    ],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    ['many requests at once', get.repeat(300)],
    ['many requests with a key', `GET /v1/jobs HTTP/1.1\r\n${head}\r\n`.repeat(50)],
    ['an unknown method', 'BREW / HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a method that only the parser knows', 'QUERY /v1/jobs HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['the console', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['HEAD of metrics', 'HEAD /metrics HTTP/1.1\r\nHost: x\r\n\r\n'],
  ];
}

/** Sends the bytes over a connection of its own, and resets that after the delay. */
async function sendAndReset(port: number, bytes: string | Buffer, delayMs: number): Promise<void> {
  const socket = net.connect(port, '127.0.0.1');
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  socket.on('error', () => undefined).once('close', () => resolve());
  socket.once('connect', async () => {
    socket.write(bytes);
    await delay(delayMs);
    socket.resetAndDestroy();
  });
  await closed;
}

/** Asks again and again over kept connections until told to stop; returns the statuses and what was lost. */
async function askUntil(service: TestService, key: string, stopped: AbortSignal) {
  const seen = { answers: 0, lost: [] as string[] };
  while (!stopped.aborted) {
    for (const route of ['/healthz', '/v1/balance', '/openapi.json']) {
      const answer = await fetch(service.baseUrl + route, { headers: { 'x-api-key': key } }).catch((error) => error);
      const outcome = answer instanceof Error ? String(answer.cause) : answer.status;
      if (outcome === 200) await answer.arrayBuffer();
      else seen.lost.push(`${route}: ${outcome}`);
      seen.answers += 1;
    }
  }
  return seen;
}

const httpProcess = (service: TestService) =>
  descendantsOf(service.pid)
    .filter(({ arguments: args }) => args.includes('http') && args.some((arg) => /process\.js$/.test(arg)))
    .map(({ pid }) => pid);

test('odd requests that end in a reset harm neither the process nor what other clients ask and follow', async () => {
  await using service = await openService({
    ROLES: 'api',
    RATE_LIMIT_BALANCE: 'off',
    RATE_LIMIT_TRANSCRIBE: 'off',
    RATE_LIMIT_JOBS: 'off',
    RATE_LIMIT_DEFAULT: 'off',
  });
  const port = Number(new URL(service.baseUrl).port);
  const { key } = await service.account({ credits: 10 });
  const form = new FormData();
  form.append('file', new Blob([Uint8Array.from(wavFile(1))]), 'a.wav');
  form.append('async', 'true');
  const headers = { 'x-api-key': key };
  const { id } = (await (
    await fetch(`${service.baseUrl}/v1/transcribe`, { method: 'POST', headers, body: form })
  ).json()) as { id: string };
  const stream = await fetch(`${service.baseUrl}/v1/jobs/${id}/events`, { headers });
  const events = readEvents(stream.body!);
  await events.next();
  const before = httpProcess(service);
  assert.equal(before.length, 1);
  const done = new AbortController();
  const asking = Promise.all([askUntil(service, key, done.signal), askUntil(service, key, done.signal)]);

  const random = randomFrom(SEED);
  // Every other time only a part is sent.
  const cut = (bytes: string | Buffer) => bytes.slice(0, random.integer(bytes.length + 1));
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    for (const delayMs of RESET_DELAYS_MS) {
      await Promise.all(
        oddRequests(key).map(([, bytes]) => sendAndReset(port, repeat % 2 ? cut(bytes) : bytes, delayMs)),
      );
    }
  }
  done.abort();
  const seen = await asking;
  await fetch(`${service.baseUrl}/v1/jobs/${id}/cancel`, { method: 'POST', headers }).catch(() => undefined);
  const rest = await Array.fromAsync(events).catch(() => []);

  assert.deepEqual(httpProcess(service), before);
  assert.doesNotMatch(service.logText(), /"level":"(error|fatal)"/);
  assert.deepEqual(
    seen.flatMap(({ lost }) => lost),
    [],
  );
  assert.ok(seen.every(({ answers }) => answers >= 3));
  assert.equal(rest.at(-1)?.data.status, 'canceled');
});
