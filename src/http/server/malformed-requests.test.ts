import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import test from 'node:test';
import { openLog } from '../../platform/log.ts';
import { defineRoute, type Route } from '../route.ts';
import { buildServer, closeServer } from './server.ts';

function routeAt(path: string, handle: Route['handle']): Route {
  return defineRoute({
    method: 'GET',
    path,
    auth: 'none',
    summary: 'for the test',
    tag: 'Test',
    schema: { answers: {} },
    handle,
  });
}

/**
 * A server with one route; `exchange` sends bytes and resolves to everything received until the connection is closed.
 */
async function openServer(given: Route | Route[], log = openLog('silent')) {
  const app = buildServer({
    routes: [given].flat(),
    auth: { findCaller: async () => null, adminToken: 'token-of-the-test' },
    limits: { admit: async () => null },
    log,
    metrics: { requestEnded: () => undefined, rateRefused: () => undefined },
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  return {
    async exchange(bytes: string): Promise<string> {
      const socket = net.connect(port, '127.0.0.1');
      socket.write(bytes);
      const chunks: Buffer[] = [];
      socket.on('data', (chunk) => chunks.push(chunk));
      await once(socket, 'close');
      return Buffer.concat(chunks).toString();
    },
    [Symbol.asyncDispose]: () => closeServer(app, 0),
  };
}

function statusesOf(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
}

const METHODS_OF_THE_PARSER = http.METHODS.filter((method) => method !== 'CONNECT');
const METHODS_UNKNOWN_TO_THE_PARSER = ['FOO', 'GETX', 'get', 'MKFOO', 'x-y'];

test('a method that a path does not support is answered 405 with Allow, and 404 at an unknown path', async () => {
  const errors: unknown[] = [];
  const log = openLog('silent');
  log.error = ((line: unknown) => errors.push(line)) as unknown as typeof log.error;
  await using server = await openServer(
    routeAt('/v1/jobs', async () => ({ status: 200, body: {} })),
    log,
  );
  const methods = [...METHODS_OF_THE_PARSER, ...METHODS_UNKNOWN_TO_THE_PARSER];
  const others = methods.filter((method) => !['GET', 'HEAD', 'OPTIONS'].includes(method));
  const ask = async (method: string, path: string) => {
    const headers = 'Host: x\r\nContent-Type: ;;\r\nContent-Length: 2\r\nConnection: close\r\n';
    const text = await server.exchange(`${method} ${path} HTTP/1.1\r\n${headers}\r\n{}`);
    return [method, ...statusesOf(text), /^allow: (.*)$/im.exec(text)?.[1]];
  };

  const known = await Promise.all(others.map((method) => ask(method, '/v1/jobs')));
  const unknown = await Promise.all(methods.map((method) => ask(method, '/v1/nothing')));

  assert.ok(others.includes('QUERY') && others.length > 25);
  assert.deepEqual(
    known,
    others.map((method) => [method, 405, 'GET, HEAD, OPTIONS']),
  );
  assert.deepEqual(
    unknown,
    methods.map((method) => [method, 404, undefined]),
  );
  assert.deepEqual(errors, []);
});

test('who forgets /v1 in a path is told the path', async () => {
  await using server = await openServer(routeAt('/v1/jobs', async () => ({ status: 200, body: {} })));
  const ask = (path: string) => server.exchange(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);

  assert.match(await ask('/jobs?limit=3'), /There is nothing at this path\. Did you mean \/v1\/jobs\?"/);
  assert.match(await ask('/v1/job'), /There is nothing at this path; GET \/openapi\.json lists what there is\."/);
});

test('who adds a slash or a second version to a path is told the path', async () => {
  const routes = ['/v1/jobs', '/v1/jobs/:id', '/v1/audio/transcriptions'];
  await using server = await openServer(routes.map((path) => routeAt(path, async () => ({ status: 200, body: {} }))));
  const ask = (path: string) => server.exchange(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);

  for (const [path, meant] of [
    ['/v1/jobs/', '/v1/jobs'],
    ['//v1/jobs', '/v1/jobs'],
    ['/v1/audio/transcriptions/', '/v1/audio/transcriptions'],
    ['/v1/v1/audio/transcriptions', '/v1/audio/transcriptions'],
    ['/audio/transcriptions/', '/v1/audio/transcriptions'],
  ]) {
    const answer = await ask(path!);
    assert.match(answer, /^HTTP\/1\.1 404/);
    assert.ok(answer.includes(`There is nothing at this path. Did you mean ${meant}?`), answer);
  }
  assert.match(await ask('/v1/nothing/'), /GET \/openapi\.json lists what there is/);
});

test('requests before a malformed one, or before CONNECT, on the same connection are answered first', async () => {
  const { promise: goOn, resolve } = Promise.withResolvers<void>();
  const slow = routeAt('/slow', async () => {
    await goOn;
    return { status: 200, body: { done: true } };
  });
  await using server = await openServer(slow);
  const get = 'GET /slow HTTP/1.1\r\nHost: x\r\n\r\n';

  const malformed = server.exchange(`${get}${get}garbage\r\n\r\n`);
  const tunnel = server.exchange(`${get}${get}CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n`);
  await server.exchange('garbage\r\n\r\n');
  resolve();

  assert.deepEqual(statusesOf(await malformed), [200, 200, 400]);
  assert.deepEqual(statusesOf(await tunnel), [200, 200, 405]);
});

test('a stream that fails is logged as an error of its request', async () => {
  const errors: Record<string, unknown>[] = [];
  const log = openLog('silent');
  log.error = ((line: Record<string, unknown>) => errors.push(line)) as unknown as typeof log.error;
  const route = routeAt('/stream', async () => {
    async function* words() {
      yield 'a word';
      throw new Error('failed');
    }
    return { status: 200, stream: Readable.from(words()), contentType: 'text/plain' };
  });
  await using server = await openServer(route, log);

  const text = await server.exchange('GET /stream HTTP/1.1\r\nHost: x\r\n\r\n');

  assert.deepEqual(statusesOf(text), [200]);
  assert.deepEqual(
    errors.map(({ route, error }) => [route, (error as Error).message]),
    [['/stream', 'failed']],
  );
});

test('pipelined requests are handled one after the other', async () => {
  let [open, most, handled] = [0, 0, 0];
  const route = routeAt('/counted', async () => {
    open += 1;
    handled += 1;
    most = Math.max(most, open);
    await new Promise((resolve) => setImmediate(resolve));
    open -= 1;
    return { status: 200, body: {} };
  });
  await using server = await openServer(route);
  const get = 'GET /counted HTTP/1.1\r\nHost: x\r\n\r\n';

  const text = await server.exchange(`${get.repeat(99)}GET /counted HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  const handledOfFew = handled;
  await server.exchange(get.repeat(1_000));

  assert.equal(statusesOf(text).filter((status) => status === 200).length, 100);
  assert.deepEqual([most, handledOfFew], [1, 100]);
  assert.ok(handled < 200, `${handled} requests were handled`);
});
