import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import net from 'node:net';
import { test } from 'node:test';
import { openManualClock } from '../../../test/fixtures/manual-clock.ts';
import { isSuccess, type Outcome, post } from './post.ts';
import { probe, watchTargets } from './probe.ts';

const signal = new AbortController().signal;
const request = { headers: { 'X-A': '1', 'Content-Type': 'application/json' }, body: '{"é":1}' };

async function listening(server: net.Server): Promise<{ url: URL } & AsyncDisposable> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: new URL(`http://127.0.0.1:${port}/hooks?a=b`),
    async [Symbol.asyncDispose]() {
      if (server instanceof http.Server) server.closeAllConnections();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    },
  };
}

const serve = (handle: RequestListener) => listening(http.createServer(handle));

test('the request arrives with its bytes and headers, and the answer comes back', async () => {
  const seen: unknown[] = [];
  await using server = await serve(async (incoming, answer) => {
    const body = Buffer.concat(await Array.fromAsync(incoming)).toString();
    seen.push(incoming.method, incoming.url, incoming.headers['x-a'], incoming.headers['content-length'], body);
    answer.writeHead(201, { 'x-b': '2' }).end('thanks');
  });

  const outcome = await post(server.url, request, signal);

  assert.deepEqual(seen, ['POST', '/hooks?a=b', '1', '8', '{"é":1}']);
  assert.equal(outcome.kind, 'answered');
  const { status, headers, body } = outcome as Extract<Outcome, { kind: 'answered' }>;
  assert.deepEqual([status, headers['x-b'], body, isSuccess(outcome)], [201, '2', 'thanks', true]);
});

test('a redirect is not followed, and is no success', async () => {
  let requests = 0;
  await using server = await serve((_incoming, answer) => {
    requests += 1;
    answer.writeHead(302, { location: '/elsewhere' }).end();
  });

  const outcome = await post(server.url, request, signal);

  assert.deepEqual([requests, outcome.kind === 'answered' && outcome.status, isSuccess(outcome)], [1, 302, false]);
});

test('of the body of an answer 4 KiB are kept, and one that is cut does not matter', async () => {
  await using long = await serve((_incoming, answer) => void answer.end('x'.repeat(100_000)));
  await using cut = await serve((_incoming, answer) => {
    answer.writeHead(200, { 'content-length': '100' }).write('half');
    setImmediate(() => answer.destroy());
  });

  const outcomes = [await post(long.url, request, signal), await post(cut.url, request, signal)];

  assert.ok(outcomes.every(isSuccess));
  assert.equal((outcomes[0] as { body: string }).body.length, 4096);
});

test('why there is no answer is said in words', async () => {
  await using closed = await serve(() => assert.fail());
  const refused = closed.url;
  await closed[Symbol.asyncDispose]();
  await using rude = await listening(net.createServer((socket) => socket.on('data', () => socket.destroy())));
  const messageOf = async (url: URL) => {
    const outcome = await post(url, request, signal);
    return outcome.kind === 'failed' ? [outcome.reason, outcome.message] : outcome;
  };

  assert.deepEqual(await messageOf(refused), ['refused', `nothing listens on ${refused.host}: start your server`]);
  assert.deepEqual(await messageOf(new URL(`http://localhost:${refused.port}/`)), [
    'refused',
    `nothing listens on localhost:${refused.port}: start your server`,
  ]);
  assert.deepEqual(await messageOf(new URL('http://name.invalid/')), ['dns', 'the name name.invalid does not resolve']);
  assert.equal(((await messageOf(rude.url)) as string[])[0], 'reset');
  const https = new URL(rude.url.href.replace('http:', 'https:'));
  assert.match(String(await messageOf(https)), /^(tls|reset)/);
});

test('an answer that does not come within 5 s is a timeout', async () => {
  await using silent = await serve(() => undefined);

  const startedAt = performance.now();
  const outcome = await post(silent.url, request, signal);

  assert.deepEqual(outcome, { kind: 'failed', reason: 'timeout', message: 'no answer within 5 s' });
  assert.ok(performance.now() - startedAt >= 4_900);
});

test('the end of the run ends a request', async () => {
  const stop = new AbortController();
  await using server = await serve(() => stop.abort());

  await assert.rejects(post(server.url, request, stop.signal), { name: 'AbortError' });
});

test('a host on which nothing listens is reported at once, and then each change, once', async () => {
  const clock = openManualClock();
  const stop = new AbortController();
  const changes: string[] = [];
  let isUp = false;
  const host = new URL('http://localhost:3000/');
  const { first } = watchTargets([host], {
    clock,
    signal: stop.signal,
    probe: async () => isUp,
    onChange: ({ host: name }, up) => changes.push(`${name} ${up}`),
  });

  await first;
  await clock.advance(60_000);
  isUp = true;
  await clock.advance(60_000);
  isUp = false;
  await clock.advance(14_999);
  stop.abort();
  isUp = true;
  await clock.advance(60_000);

  assert.deepEqual(changes, ['localhost:3000 false', 'localhost:3000 true']);
});

test('a connection tells whether something listens', async () => {
  const server = http.createServer();
  await using open = await listening(server);
  const before = await probe(open.url, signal);
  await open[Symbol.asyncDispose]();

  assert.deepEqual([before, await probe(open.url, signal)], [true, false]);
});
