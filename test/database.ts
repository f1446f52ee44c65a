import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { Database } from '../src/db/database.ts';
import { openDatabase } from '../src/db/database.ts';
import { migrate } from '../src/db/migrate.ts';

const TEMPLATE = 'verbatim_template';

export type TestDatabase = Database & AsyncDisposable & { url: string };

/**
 * A database of its own, migrated and empty, on the PostgreSQL that the test command started (`npm test`, which names
 * it in TEST_DATABASE_URL). Dropped when disposed: `await using db = await openTestDatabase();`
 */
export async function openTestDatabase(): Promise<TestDatabase> {
  const server = process.env['TEST_DATABASE_URL'];
  if (!server) throw new Error('Run the tests with `npm test [-- file …]`: it starts the PostgreSQL that they need.');
  const name = `test_${randomBytes(8).toString('hex')}`;
  await ensureTemplate(server);
  await asAdmin(server, (admin) => admin.query(`create database ${name} template ${TEMPLATE}`));
  const url = withDatabase(server, name);
  const db = openDatabase(url, { maxConnections: 10 });
  return {
    ...db,
    url,
    async [Symbol.asyncDispose]() {
      await db.close().catch(() => undefined);
      await asAdmin(server, (admin) => admin.query(`drop database if exists ${name} with (force)`));
    },
  };
}

async function ensureTemplate(server: string): Promise<void> {
  await asAdmin(server, async (admin) => {
    // Test files run in several processes at once: the first one makes the template, the others wait for it.
    await admin.query('select pg_advisory_lock(1)');
    try {
      const found = await admin.query('select 1 from pg_database where datname = $1', [TEMPLATE]);
      if (found.rowCount === 0) await makeTemplate(server, admin);
    } finally {
      await admin.query('select pg_advisory_unlock(1)');
    }
  });
}

async function makeTemplate(server: string, admin: pg.Client): Promise<void> {
  const building = `${TEMPLATE}_building`;
  await admin.query(`drop database if exists ${building} with (force)`);
  await admin.query(`create database ${building}`);
  const db = openDatabase(withDatabase(server, building), { maxConnections: 1 });
  await migrate(db);
  await db.close();
  await admin.query(`alter database ${building} rename to ${TEMPLATE}`);
}

async function asAdmin(server: string, work: (admin: pg.Client) => Promise<unknown>): Promise<void> {
  const admin = new pg.Client({ connectionString: server });
  await admin.connect();
  try {
    await work(admin);
  } finally {
    await admin.end();
  }
}

function withDatabase(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}
