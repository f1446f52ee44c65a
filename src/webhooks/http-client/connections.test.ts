import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { type Connection, ConnectionPool, type Turn } from './connections.ts';

const ORIGIN = 'https://receiver.example';
const SHARED = 64;

/** A pool with all shared connections in use, whose time stands still until `advance`. */
function fullPool(context: TestContext) {
  context.mock.timers.enable({ apis: ['setTimeout', 'setImmediate'] });
  let nowMs = 0;
  const pool = new ConnectionPool({ maxWaitMs: 5_000, monotonicMs: () => nowMs });
  context.after(() => pool.close());
  const socket = { destroyed: false, writable: true } as TLSSocket;
  const open = (turn: Turn): Connection => {
    const connection = pool.adopt(ORIGIN, '192.0.2.1', socket);
    turn.opened();
    return connection;
  };
  const inUse = Array.from({ length: SHARED }, () => open(pool.acquire(ORIGIN) as Turn));
  const admitted: Turn[] = [];
  return {
    inUse,
    admitted,
    open,
    async wait(attempts: number) {
      for (let attempt = 0; attempt < attempts; attempt++) {
        void (pool.acquire(ORIGIN) as Promise<Turn>).then((turn) => admitted.push(turn));
      }
    },
    /** The connection has its answer, and is used by the next attempt. */
    answered: (connection: Connection) => pool.giveBack(connection),
    async advance(ms: number) {
      nowMs += ms;
      context.mock.timers.tick(ms);
      context.mock.timers.tick(0);
      await undefined;
    },
  };
}

test('attempts that have waited long open no connections while those in use are answered soon', async (context) => {
  const { inUse, admitted, wait, answered, advance } = fullPool(context);
  await wait(20 * SHARED);

  for (let round = 1; round <= 10; round++) {
    await advance(30);
    for (const connection of inUse) answered(connection);
    await undefined;
  }

  assert.equal(admitted.length, 10 * SHARED);
  assert.deepEqual(new Set(admitted.map(({ connection }) => connection)), new Set(inUse));
});

test('attempts that have waited long open a connection for each that waits for a slow receiver', async (context) => {
  const { inUse, admitted, wait, answered, advance } = fullPool(context);
  await wait(20 * SHARED);
  const slow = 5;

  for (let round = 1; round <= 10; round++) {
    await advance(30);
    for (const connection of inUse.slice(slow)) answered(connection);
    await undefined;
  }

  assert.equal(admitted.filter(({ connection }) => connection === null).length, slow);
});
