import pg from 'pg';
import { cancelStatement } from './cancel.ts';
import { Listener } from './listener.ts';

/** A statement: its text, its values, and a name when it is hot enough to be prepared once per connection. */
export type Statement = { text: string; values?: unknown[]; name?: string };

/** Runs statements, on the pool or inside one transaction. */
export type Sql = {
  rows<Row>(statement: Statement): Promise<Row[]>;
  /** How many rows the statement changed. */
  run(statement: Statement): Promise<number>;
};

export type Database = Sql & {
  /**
   * Runs `work` in one transaction and commits it; rolls back when it throws.
   * No network call belongs in there: a slow peer would hold locks.
   */
  transaction<Result>(work: (tx: Sql) => Promise<Result>, options?: TransactionOptions): Promise<Result>;
  /** Calls back for every NOTIFY on the channel; resubscribes by itself after a lost connection. Returns the way to stop. */
  listen(channel: string, onNotify: (payload: string) => void): Promise<() => Promise<void>>;
  close(): Promise<void>;
};

export type TransactionOptions = {
  /** Lifts every timeout of client and server: for migrations, which take as long as the tables are large. */
  withoutTimeouts?: boolean;
};

export type DatabaseOptions = {
  maxConnections: number;
  /** A connection without work is closed after it; default 10 s. */
  idleTimeoutMs?: number;
  /**
   * PostgreSQL itself, for LISTEN. Where it differs, `url` is taken for a pooler that pools by transaction: no setting
   * is made for longer than a transaction, and no statement is prepared by name.
   */
  directUrl?: string;
  /**
   * Plans each named statement once per connection, whatever its values are. For roles whose few large statements are
   * written to need one plan only: planning the claim costs a quarter of running it.
   */
  plansOnce?: boolean;
  /** Called when an idle connection breaks; the pool replaces it. */
  onConnectionLost?: (cause: Error) => void;
};

// Longer than any statement of ours takes, shorter than the 5 s within which a caller must hear 503.
const STATEMENT_TIMEOUT_MS = 3_500;
const QUERY_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 500;
const CONNECT_TIMEOUT_MS = 3_000;
// The client's timer cannot be switched off for one statement, only set: the most that it takes, 24 days.
const LONGEST_TIMER_MS = 2 ** 31 - 1;
// Waiting for ever on a peer that vanished is for TCP to end.
const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };

// bigint columns hold counts and credit units, all below 2^53; text would spread parsing over every store.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

/** Opens a pool on any PostgreSQL 15 or newer. Connects lazily: a database that is away shows at the first statement. */
export function openDatabase(url: string, options: DatabaseOptions): Database {
  const directUrl = options.directUrl ?? url;
  const isPooled = directUrl !== url;
  const pool = new pg.Pool({
    connectionString: url,
    max: options.maxConnections,
    ...(options.idleTimeoutMs && { idleTimeoutMillis: options.idleTimeoutMs }),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    application_name: 'verbatim',
    ...KEEP_ALIVE,
    // A pooler refuses settings among the parameters of the connection, so they are made after it.
    ...(isPooled ? {} : { onConnect: (client) => setUp(client as pg.Client, options) }),
  });
  pool.on('error', (cause) => {
    // The pool adds the connection itself: pages of a log line.
    delete (cause as { client?: unknown }).client;
    options.onConnectionLost?.(cause);
  });
  // A connection may break in the very moment in which it is handed over, before anybody listens: that would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  const listener = new Listener({
    connectionString: directUrl,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    application_name: 'verbatim',
    ...KEEP_ALIVE,
  });
  return {
    ...(isPooled ? sqlOver({ query: (statement) => queryPooled(pool, statement) }, withoutName) : sqlOver(pool)),
    transaction: (work, transactionOptions = {}) => inTransaction(pool, work, { ...transactionOptions, isPooled }),
    listen: (channel, onNotify) => listener.add(channel, onNotify),
    close: async () => void (await Promise.all([pool.end(), listener.close()])),
  };
}

async function setUp(client: pg.Client, { plansOnce }: DatabaseOptions): Promise<void> {
  const settings = [`set statement_timeout = ${STATEMENT_TIMEOUT_MS}`];
  // The one plan has to serve when a table that was empty has grown: never one that reads all of it.
  if (plansOnce)
    settings.push(
      'set plan_cache_mode = force_generic_plan',
      'set enable_seqscan = off',
      'set enable_bitmapscan = off',
    );
  await client.query(settings.join(';'));
}

// pg takes a timeout for one statement too; its types leave that out.
type Prepare = (statement: Statement) => pg.QueryConfig & { query_timeout?: number };
type Queryable = { query(statement: pg.QueryConfig): Promise<pg.QueryResult> };

const withoutName: Prepare = ({ text, values }) => ({ text, ...(values && { values }) });
const withoutTimeout: Prepare = (statement) => ({ ...withoutName(statement), query_timeout: LONGEST_TIMER_MS });

function sqlOver(client: Queryable, prepare: Prepare = (statement) => statement): Sql {
  return {
    rows: async <Row>(statement: Statement) => (await client.query(prepare(statement))).rows as Row[],
    run: async (statement) => (await client.query(prepare(statement))).rowCount ?? 0,
  };
}

/** One statement on a connection that the pooler lends for it. The server knows no timeout there: the client cancels. */
async function queryPooled(pool: pg.Pool, statement: pg.QueryConfig): Promise<pg.QueryResult> {
  const client = await pool.connect();
  try {
    const result = await client.query(statement);
    client.release();
    return result;
  } catch (cause) {
    const broken = isDatabaseAway(cause) ? (cause as Error) : undefined;
    // The pooler forgets whom to cancel once the connection is closed; the caller does not wait for that.
    if (isClientTimeout(cause)) void cancelStatement(client).then(() => client.release(broken));
    else client.release(broken);
    throw cause;
  }
}

async function inTransaction<Result>(
  pool: pg.Pool,
  work: (tx: Sql) => Promise<Result>,
  options: TransactionOptions & { isPooled: boolean },
): Promise<Result> {
  const client = await pool.connect();
  let broken: Error | undefined;
  const onError = (cause: Error) => {
    broken = cause;
  };
  client.on('error', onError);
  try {
    await client.query(beginOf(options));
    const result = await work(sqlOver(client, prepareOf(options)));
    await client.query('commit');
    return result;
  } catch (cause) {
    // A server that does not answer would keep the caller waiting for the rollback too; a closed connection rolls back.
    if (isDatabaseAway(cause)) broken = cause as Error;
    else await client.query('rollback').catch((error: Error) => (broken = error));
    throw cause;
  } finally {
    client.off('error', onError);
    client.release(broken);
  }
}

/** In the round trip of `begin`, so that a setting for the transaction costs none of its own. */
function beginOf({ withoutTimeouts, isPooled }: TransactionOptions & { isPooled: boolean }): string {
  if (withoutTimeouts) {
    const names = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'];
    return ['begin', ...names.map((name) => `set local ${name} = 0`)].join(';');
  }
  return isPooled ? `begin; set local statement_timeout = ${STATEMENT_TIMEOUT_MS}` : 'begin';
}

function prepareOf({ withoutTimeouts, isPooled }: TransactionOptions & { isPooled: boolean }): Prepare | undefined {
  if (withoutTimeouts) return withoutTimeout;
  return isPooled ? withoutName : undefined;
}

/** Whether the database could not be reached or broke off: the caller may try again, nothing is wrong with the statement. */
export function isDatabaseAway(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code !== 'string') return isConnectionMessage(error);
  // Class 08: connection exception; 53: out of resources; 57P: operator intervention; 57014: our own statement timeout.
  return (
    /^(08|53|57P|57014)/.test(code) || /^(ECONN|EPIPE|ENOENT|ETIMEDOUT|EHOSTUNREACH|ENOTFOUND|EAI_AGAIN)/.test(code)
  );
}

/** Whether the server refused a statement, so that its transaction did not happen; of a connection that broke nobody knows. */
export function isRolledBack(error: unknown): boolean {
  return (error as { severity?: unknown } | null)?.severity === 'ERROR';
}

/** pg reports its own timer as a plain Error. */
function isClientTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout';
}

/** pg reports a connection that ended or timed out as a plain Error without a code. */
function isConnectionMessage(error: unknown): boolean {
  return (
    error instanceof Error &&
    /connection terminated|not queryable|timeout exceeded when trying to connect|query read timeout/i.test(
      error.message,
    )
  );
}
