import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import pg from 'pg';
import { startOutside } from '../../test/fixtures/database/outside-postgres.ts';
import { openDatabase } from './database.ts';

const SHOW_JIT = { text: 'show jit' };

test('no session compiles its statements, beside a PostgreSQL whose default is to compile', async () => {
  await using server = await openServer();
  await using db = open(server.url, { maxConnections: 6, plansOnce: true });
  // The path of each kind of statement: the pool, connections that are shared, transactions.
  const shown = {
    default: await defaultOf(server.url),
    pool: await db.rows(SHOW_JIT),
    brief: await db.rows({ ...SHOW_JIT, isBrief: true }),
    transaction: await db.transaction((tx) => tx.rows(SHOW_JIT)),
  };

  const off = [{ jit: 'off' }];
  assert.deepEqual(shown, { default: [{ jit: 'on' }], pool: off, brief: off, transaction: off });
});

test('no transaction through a pooler compiles its statements', async () => {
  await using server = await openServer();
  await using db = open(server.url, { maxConnections: 1, directUrl: `${server.url}?application_name=direct` });

  assert.deepEqual(await db.transaction((tx) => tx.rows(SHOW_JIT)), [{ jit: 'off' }]);
});

async function openServer() {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'verbatim-test-'));
  // Read by PostgreSQL's user, which is another one where the test runs as root.
  fs.chmodSync(dir, 0o755);
  const { url, stop } = await startOutside(path.join(dir, 'database'));
  return {
    url,
    async [Symbol.asyncDispose]() {
      await stop();
      fs.rmSync(dir, { recursive: true });
    },
  };
}

function open(...order: Parameters<typeof openDatabase>) {
  const db = openDatabase(...order);
  return Object.assign(db, { [Symbol.asyncDispose]: () => db.close() });
}

async function defaultOf(connectionString: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query('show jit')).rows;
  } finally {
    await client.end();
  }
}
