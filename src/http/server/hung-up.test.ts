import assert from 'node:assert/strict';
import net, { type AddressInfo } from 'node:net';
import test from 'node:test';
import { pino } from 'pino';
import { ApiError } from '../api-error.ts';
import { type Call, defineRoute } from '../route.ts';
import { buildServer, closeServer } from './server.ts';

type Handle = (call: Call<unknown, unknown, unknown>) => Promise<never>;
type Line = { level: number; msg: string; route?: string; status?: number; hung_up?: boolean };

/** What is logged and counted of a request whose caller hangs up while it is handled. */
async function hangUpOn(handle: Handle): Promise<{ lines: Line[]; statuses: number[] }> {
  const lines: Line[] = [];
  const statuses: number[] = [];
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const failed = Promise.withResolvers<void>();
  const log = pino({ level: 'info' }, { write: (text: string) => void lines.push(JSON.parse(text)) });
  const route = defineRoute({
    method: 'POST',
    path: '/upload',
    auth: 'none',
    summary: 'for the test',
    tag: 'Test',
    upload: true,
    schema: { answers: {} },
    async handle(call) {
      begun.resolve();
      // After the error handler.
      return await handle(call).finally(() => setImmediate(failed.resolve));
    },
  });
  const app = buildServer({
    routes: [route],
    auth: { findCaller: async () => null, adminToken: 'admin-token-of-test' },
    limits: { admit: async () => null },
    log,
    metrics: {
      requestEnded({ status }) {
        statuses.push(status);
        ended.resolve();
      },
      rateRefused: () => undefined,
    },
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const socket = net.connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  socket.write('POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nbegin');
  await begun.promise;
  socket.destroy();
  await Promise.all([ended.promise, failed.promise]);
  await closeServer(app, 0);
  return { lines: lines.filter(({ route: path }) => path === '/upload'), statuses };
}

const shown = ({ lines, statuses }: Awaited<ReturnType<typeof hangUpOn>>) => ({
  lines: lines.map(({ level, msg, status, hung_up }) => [level, msg, status, hung_up]),
  statuses,
});

const untilHungUp = ({ signal }: Call<unknown, unknown, unknown>) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));

test('an upload whose caller hangs up is logged and counted as 499, and is no failure of the service', async () => {
  const ended = await hangUpOn(async ({ upload }) => {
    for await (const _chunk of upload.open());
    throw new Error('the body was whole');
  });

  assert.deepEqual(shown(ended), { lines: [[30, 'request', 499, true]], statuses: [499] });
});

test('a request that is refused after its caller hung up is a 499', async () => {
  const ended = await hangUpOn(async (call) => {
    await untilHungUp(call);
    throw new ApiError('conflict', 'Too late.');
  });

  assert.deepEqual(shown(ended), { lines: [[30, 'request', 499, true]], statuses: [499] });
});

test('a bug in a request whose caller hung up is an error in the log', async () => {
  const ended = await hangUpOn(async (call) => {
    await untilHungUp(call);
    throw new TypeError('a bug');
  });

  assert.deepEqual(shown(ended), {
    lines: [
      [30, 'request', 499, true],
      [50, 'request failed', 499, true],
    ],
    statuses: [499],
  });
});
