import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import test from 'node:test';
import { callerOf } from '../../../test/fixtures/caller.ts';
import { openLog } from '../../platform/log.ts';
import { hashKey } from '../authentication.ts';
import { UnreadAnswers } from '../connections/unread-answers.ts';
import { defineRoute } from '../route.ts';
import { buildServer, closeServer } from './server.ts';

const MIB = 1024 * 1024;
const KEYS = { a: `vb_${'a'.repeat(43)}`, b: `vb_${'b'.repeat(43)}`, c: `vb_${'c'.repeat(43)}` };
type Name = keyof typeof KEYS;
const LIMITS = { maxBytesPerCaller: 25 * MIB, maxBytes: 45 * MIB };

/**
 * A server whose `/large` and `/reserved` answer 10 MiB, more than the buffers of sockets hold; `get` returns the
 * status and reads nothing more. `/reserved` counts them before it changes anything.
 */
async function openServer() {
  const changes = { count: 0 };
  const answer = { status: 200, body: 'a'.repeat(10 * MIB), contentType: 'text/plain' };
  const route = { auth: 'key', scope: 'any', summary: 'for the test', tag: 'Test', schema: { answers: {} } } as const;
  const accounts = Object.entries(KEYS).map(([id, key]) => ({ id, hash: hashKey(key) }));
  const app = buildServer({
    routes: [
      defineRoute({ ...route, method: 'GET', path: '/large', handle: async () => answer }),
      defineRoute({ ...route, method: 'POST', path: '/large', handle: async () => answer }),
      defineRoute({
        ...route,
        method: 'PATCH',
        path: '/reserved',
        async handle({ memory }) {
          memory.reserve(answer.body.length);
          changes.count += 1;
          return answer;
        },
      }),
      defineRoute({ ...route, method: 'GET', path: '/small', handle: async () => ({ status: 200, body: {} }) }),
    ],
    auth: {
      findCaller: async (hash) => {
        const account = accounts.find((one) => one.hash.equals(hash));
        return account ? callerOf({ id: account.id, shard: 1, name: 'x', plan: 'pro', unlimited: true }) : null;
      },
      adminToken: 'token-of-the-test',
    },
    limits: { admit: async () => null },
    unreadLimits: LIMITS,
    log: openLog('silent'),
    metrics: { requestEnded: () => undefined, rateRefused: () => undefined },
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const sockets: net.Socket[] = [];
  const get = async (name: Name, path = '/large', method = 'GET') => {
    const socket = net.connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    sockets.push(socket);
    socket.write(`${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEYS[name]}\r\n\r\n`);
    await once(socket, 'readable');
    const text = String(socket.read());
    return { status: Number(text.slice(9, 12)), text, socket };
  };
  return {
    get,
    changes,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await closeServer(app, 0);
    },
  };
}

test('an account with many unread answers gets 429 until it has read, and other accounts are served', async () => {
  await using server = await openServer();

  const first = await server.get('a');
  await server.get('a');
  const third = await server.get('a');
  const small = await server.get('a', '/small');
  const posted = await server.get('a', '/large', 'POST');
  const other = await server.get('b');
  first.socket.resume();

  assert.deepEqual(
    [first, third, small, posted, other].map(({ status }) => status),
    [200, 429, 200, 200, 200],
  );
  assert.match(third.text, /At most \d+ MiB of answers.*"type":"rate_limited".*"retry_after":5/);
});

test('many accounts with unread answers get 503, and 200 when others were read or closed', async () => {
  await using server = await openServer();
  const read = [await server.get('a'), await server.get('a'), await server.get('b'), await server.get('b')];

  const refused = await server.get('c');
  read[0]!.socket.resume();
  const closes = once(read[1]!.socket, 'close');
  read[1]!.socket.destroy();
  await closes;
  let status = 503;
  while (status === 503) ({ status } = await server.get('c'));

  assert.deepEqual([refused.status, status], [503, 200]);
  assert.match(refused.text, /retry-after: 5/i);
});

test('an answer that is reserved counts once, and is refused before anything is changed', async () => {
  await using server = await openServer();

  const statuses: number[] = [];
  for (let i = 0; i < 3; i++) statuses.push((await server.get('a', '/reserved', 'PATCH')).status);

  assert.deepEqual([statuses, server.changes.count], [[200, 200, 429], 2]);
});

test('a part of a stream is counted until it is disposed', () => {
  const answers = new UnreadAnswers({ maxBytes: 20 * MIB, maxBytesPerCaller: 12 * MIB });

  const first = answers.hold('a', 10 * MIB);
  const meanwhile = [answers.exceeded('a', 10 * MIB), answers.exceeded('b', 11 * MIB)];
  first[Symbol.dispose]();

  assert.deepEqual([...meanwhile, answers.exceeded('a', 10 * MIB)], ['caller', 'all', null]);
});

test('a client that reads an answer more slowly than 16 KiB a second is disconnected', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const answers = new UnreadAnswers({ maxBytes: 20 * MIB, maxBytesPerCaller: 20 * MIB });
  const answer = new PassThrough();

  answers.add('a', 10 * MIB, answer as unknown as ServerResponse);
  t.mock.timers.tick(60_000 + 639_999);
  const isOpenBefore = !answer.destroyed;
  t.mock.timers.tick(1);

  assert.deepEqual([isOpenBefore, answer.destroyed], [true, true]);
});
