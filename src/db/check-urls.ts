import type pg from 'pg';
import { connectionOptions, DatabaseClient } from './connection.ts';
import { UnusableDatabaseError } from './unusable-database-error.ts';

export type DatabaseUrls = { url: string; directUrl: string };

const OLDEST_VERSION = 15;
const TIMEOUT_MS = 4_000;
const ROUNDS = 3;

/**
 * Checks that LISTEN and session locks work over `directUrl`, and that `url` names the same database.
 * Resolves with whether `url` names a pooler that pools by session.
 * @throws UnusableDatabaseError
 */
export async function checkUrls({ url, directUrl }: DatabaseUrls): Promise<boolean> {
  await using first = await connect(directUrl);
  await using second = await connect(directUrl);
  await checkServer(first.client);
  if (await sharesServers(first.client, second.client)) {
    throw new UnusableDatabaseError(
      directUrl === url
        ? 'DATABASE_URL names a pooler that pools by transaction. Set DATABASE_DIRECT_URL to PostgreSQL itself, or let the pooler pool by session.'
        : 'DATABASE_DIRECT_URL names a pooler that pools by transaction. It must name PostgreSQL itself.',
    );
  }
  if (directUrl !== url) await checkSameDatabase(url, first.client);
  // PostgreSQL gives its process id for cancel requests; a pooler gives another number.
  const { processID } = first.client as unknown as { processID: number };
  return directUrl === url && processID !== (await serverOf(first.client));
}

async function checkServer(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ version: number; encoding: string }>(
    `select current_setting('server_version_num')::integer / 10000 as version, current_setting('server_encoding') as encoding`,
  );
  const { version, encoding } = rows[0]!;
  if (version < OLDEST_VERSION)
    throw new UnusableDatabaseError(`DATABASE_URL names PostgreSQL ${version}: ${OLDEST_VERSION} or newer is needed.`);
  // Another one cannot store text of all languages.
  if (encoding !== 'UTF8')
    throw new UnusableDatabaseError(
      `DATABASE_URL names a database with encoding ${encoding}: UTF8 is needed. Create one: create database verbatim encoding 'UTF8' template template0.`,
    );
}

/**
 * Whether two connections share one server process, or one connection uses two: then a pooler assigns server processes
 * per statement or transaction. False is not certain: a busy pooler may assign the same ones by chance.
 */
async function sharesServers(one: pg.Client, other: pg.Client): Promise<boolean> {
  for (let round = 0; round < ROUNDS; round++) {
    const before = await serverOf(one);
    await other.query('begin');
    const between = await serverOf(other);
    const after = before === between ? before : await serverOf(one);
    await other.query('rollback');
    if (before === between || before !== after) return true;
  }
  return false;
}

async function serverOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]!.pid;
}

/** @throws UnusableDatabaseError  when the server process of a connection over `url` is not visible over `directUrl` */
async function checkSameDatabase(url: string, direct: pg.Client): Promise<void> {
  await using pooled = await connect(url);
  // Within a transaction the pooler does not assign the server process to another client.
  await pooled.client.query('begin');
  const pid = await serverOf(pooled.client);
  const { rowCount } = await direct.query(
    'select 1 from pg_stat_activity where pid = $1 and datname = current_database()',
    [pid],
  );
  await pooled.client.query('rollback');
  if (rowCount !== 1) {
    throw new UnusableDatabaseError('DATABASE_URL and DATABASE_DIRECT_URL name different databases.');
  }
}

async function connect(url: string) {
  const client = new DatabaseClient(
    connectionOptions(url, { connectionTimeoutMillis: TIMEOUT_MS, query_timeout: TIMEOUT_MS }),
  );
  // A lost connection makes the next statement fail.
  client.on('error', () => undefined);
  await client.connect();
  return { client, [Symbol.asyncDispose]: () => client.end().catch(() => undefined) };
}
