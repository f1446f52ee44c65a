import assert from 'node:assert/strict';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import test from 'node:test';
import { until } from '../../../test/fixtures/until.ts';
import { openLog } from '../../platform/log.ts';
import { defineRoute } from '../route.ts';
import { buildServer, closeServer } from '../server/server.ts';
import { type ClosedConnection, type ConnectionLimits, logClosed } from './connections.ts';

const NONE = { auth: 'none', summary: 'for the test', tag: 'Test', schema: { answers: {} } } as const;
const GET = 'GET /quick HTTP/1.1\r\nHost: x\r\n\r\n';
const SLOW = 'GET /slow HTTP/1.1\r\nHost: x\r\n\r\n';
const LARGE = 'GET /large HTTP/1.1\r\nHost: x\r\n\r\n';
const LARGE_BYTES = 32 * 1024 * 1024;

/**
 * A server with small limits. `/slow` is answered when `release` is called; `/large` is larger than the socket buffers.
 */
async function openServer(connections: ConnectionLimits) {
  const { promise, resolve: release } = Promise.withResolvers<void>();
  const closed: ClosedConnection[] = [];
  let slowRequests = 0;
  const slow = async () => {
    slowRequests += 1;
    await promise;
    return { status: 200, body: 'slow', contentType: 'text/plain' };
  };
  const large = async () => ({ status: 200, body: 'a'.repeat(LARGE_BYTES), contentType: 'text/plain' });
  const app = buildServer({
    routes: [
      defineRoute({ ...NONE, method: 'GET', path: '/quick', handle: async () => ({ status: 200, body: {} }) }),
      defineRoute({ ...NONE, method: 'GET', path: '/slow', handle: slow }),
      defineRoute({ ...NONE, method: 'GET', path: '/large', handle: large }),
    ],
    auth: { findCaller: async () => null, adminToken: 'token-of-the-test' },
    limits: { admit: async () => null },
    connections,
    log: openLog('silent'),
    metrics: {
      requestEnded: () => undefined,
      rateRefused: () => undefined,
      connectionClosed: (connection) => void closed.push(connection),
    },
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const connect = async (localAddress = '127.0.0.1') => {
    const accepted = once(app.server, 'connection');
    const socket = net.connect({ port, host: '127.0.0.1', localAddress });
    socket.on('error', () => undefined);
    await Promise.all([accepted, once(socket, 'connect')]);
    return socket;
  };
  return {
    connect,
    release,
    closed,
    slowRequests: () => slowRequests,
    [Symbol.asyncDispose]: () => closeServer(app, 0),
  };
}

/**
 * Sends a request over the connection; resolves to the status of its answer, or to null when the connection ends first.
 */
async function request(socket: net.Socket, bytes = GET): Promise<number | null> {
  const { promise, resolve } = Promise.withResolvers<number | null>();
  socket.once('close', () => resolve(null)).once('data', (chunk) => resolve(Number(String(chunk).split(' ')[1])));
  socket.write(bytes);
  return await promise;
}

/** Resolves when the connection is closed, with or without a reset. */
function isClosed(socket: net.Socket): Promise<true> {
  return new Promise((resolve) => socket.resume().once('close', () => resolve(true)));
}

test('at the limit the connection that is idle for the longest time is closed, and the new one is served', async () => {
  await using server = await openServer({ max: 3, maxPerAddress: 10 });
  const [first, second, third] = [await server.connect(), await server.connect(), await server.connect()];
  await request(first);
  const secondCloses = isClosed(second);

  const fourth = await server.connect();

  assert.equal(await secondCloses, true);
  assert.deepEqual([await request(fourth), await request(first), await request(third)], [200, 200, 200]);
  assert.deepEqual(server.closed, [{ which: 'idle', limit: 'all' }]);
});

test('a connection with half of a request counts as idle', async () => {
  await using server = await openServer({ max: 2, maxPerAddress: 10 });
  const [half, idle] = [await server.connect(), await server.connect()];
  half.write('GET /quick HTTP/1.1\r\nHost: x\r\nX-');
  const halfCloses = isClosed(half);

  const third = await server.connect();

  assert.equal(await halfCloses, true);
  assert.deepEqual([await request(third), await request(idle)], [200, 200]);
});

test('a connection that waits for an answer is not closed; where all do, the new one is closed', async () => {
  await using server = await openServer({ max: 2, maxPerAddress: 10 });
  const busy = [await server.connect(), await server.connect()];
  const answers = busy.map((socket) => request(socket, SLOW));
  await until('both requests', () => server.slowRequests() === 2);

  const third = await server.connect();
  const answered = await request(third);
  server.release();

  assert.equal(answered, null);
  assert.deepEqual(await Promise.all(answers), [200, 200]);
  assert.deepEqual(server.closed, [{ which: 'new', limit: 'all' }]);
});

test('at the limit of an address its own idle connection is closed, not that of another address', async () => {
  await using server = await openServer({ max: 10, maxPerAddress: 2 });
  const other = await server.connect('127.0.0.2');
  const [first, second] = [await server.connect(), await server.connect()];
  const firstCloses = isClosed(first);

  const third = await server.connect();

  assert.equal(await firstCloses, true);
  assert.deepEqual([await request(third), await request(second), await request(other)], [200, 200, 200]);
  assert.deepEqual(server.closed, [{ which: 'idle', limit: 'address' }]);
});

test('a client that does not read its answer counts as idle', async () => {
  await using server = await openServer({ max: 2, maxPerAddress: 10 });
  const [unread, idle] = [await server.connect(), await server.connect()];
  unread.write(LARGE);
  // The answer has begun, and the client does not read on.
  await once(unread, 'readable');
  await request(idle);

  const third = await server.connect();

  assert.deepEqual([await request(third), await request(idle)], [200, 200]);
  assert.equal(server.closed.length, 1);
});

test('closed connections do not count', async () => {
  await using server = await openServer({ max: 2, maxPerAddress: 2 });

  for (let i = 0; i < 20; i++) {
    const socket = await server.connect();
    assert.equal(await request(socket), 200);
    const closes = isClosed(socket);
    socket.end();
    await closes;
  }

  assert.deepEqual(server.closed, []);
});

test('the number of closed connections is logged once in 10 s', () => {
  const lines: unknown[] = [];
  const log = openLog('silent');
  log.warn = ((counts: unknown) => lines.push(counts)) as unknown as typeof log.warn;
  let nowMs = 0;
  const report = logClosed(log, () => nowMs);

  for (let i = 0; i < 3; i++) report({ which: 'idle', limit: 'address' });
  nowMs = 10_000;
  report({ which: 'new', limit: 'all' });

  assert.deepEqual(lines, [
    { idle_closed_at_limit_of_address: 1 },
    { idle_closed_at_limit_of_address: 2, new_closed_at_limit_of_all: 1 },
  ]);
});
