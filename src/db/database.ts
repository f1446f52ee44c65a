import pg from 'pg';
import type { Log } from '../platform/log.ts';
import { BOUNDS } from '../rules/bounds.ts';
import { isTlsFailure } from '../rules/database/database-failure.ts';
import { cancelStatement } from './cancel.ts';
import { connectionOptions, DatabaseClient } from './connection.ts';
import { Listener } from './listener.ts';
import { Notifier } from './notifier.ts';
import { PipelinedConnections } from './pipelined-connections.ts';

/** A statement: its text, its values, and a name if it is prepared once per connection. */
export type Statement = {
  text: string;
  values?: unknown[];
  name?: string;
  /**
   * Outside of a transaction, executed on a connection that other statements use at the same time. For statements that
   * only read, and find few rows by an index. Those behind a statement wait for its end: a write waits for the disk,
   * and commits on one connection cannot share a flush.
   */
  isBrief?: boolean;
};

/** Runs statements, on the pool or inside one transaction. */
export type Sql = {
  rows<Row>(statement: Statement): Promise<Row[]>;
  /** The number of rows that the statement changed. */
  run(statement: Statement): Promise<number>;
  /**
   * Sends NOTIFY: at once on the pool, after the commit in a transaction. It may be lost when the process or the
   * connection ends, so listeners also poll.
   * @param payload  without commas
   */
  notify(channel: string, payload: string): void;
};

export type Database = Sql & {
  /**
   * Runs `work` in one transaction and commits it; rolls back when it throws.
   * `work` must not make network calls: a slow peer would prolong its locks.
   */
  transaction<Result>(work: (tx: Sql) => Promise<Result>, options?: TransactionOptions): Promise<Result>;
  /**
   * Calls back for every NOTIFY on the channel; resubscribes after a lost connection. Returns a function that stops it.
   */
  listen(channel: string, onNotify: (payload: string) => void): Promise<() => Promise<void>>;
  close(): Promise<void>;
};

export type TransactionOptions = {
  /** Without any timeout of client or server: for migrations, whose time depends on the size of the tables. */
  withoutTimeouts?: boolean;
};

/** How long a connection may take, and a statement: first the server gives up, then the client. */
export type Timeouts = { connectMs: number; statementMs: number; queryMs: number };

export type DatabaseOptions = {
  maxConnections: number;
  /** An idle connection is closed after this time. */
  idleTimeoutMs?: number;
  /** In place of the service's own: tests wait longer, since their machine may be busy. */
  timeouts?: Timeouts;
  /**
   * PostgreSQL itself, for LISTEN. If it differs from `url`, `url` is treated as a pooler that pools by transaction:
   * settings are made per transaction only, and no statement is prepared by name.
   */
  directUrl?: string;
  /**
   * Plans each named statement once per connection, for all values. For roles with few large statements that need only
   * one plan: planning the claim takes a quarter of the time of running it.
   */
  plansOnce?: boolean;
  /** The least time between two statements that notify, 2 ms without it. The first of them never waits. */
  notifyIntervalMs?: number;
  /** Called when an idle connection breaks; the pool replaces it. */
  onConnectionLost?: (cause: Error) => void;
};

const TIMEOUTS: Timeouts = {
  connectMs: 3_000,
  statementMs: BOUNDS.statementTimeoutMs,
  queryMs: BOUNDS.queryTimeoutMs,
};
// The client's timer cannot be disabled for one statement: this is its greatest value, 24 days.
const LONGEST_TIMER_MS = 2 ** 31 - 1;
const IDLE_TIMEOUT_MS = 10_000;
// More of them share fewer system calls.
const MAX_PIPELINED = 2;
// With fewer connections all of them are needed for transactions.
const FEWEST_TO_PIPELINE = 6;

// bigint columns hold counts and credit units, all below 2^53; text would spread parsing over every store.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

/** Opens a pool on PostgreSQL 15 or newer. Connects at the first statement, which fails if the database is away. */
export function openDatabase(url: string, options: DatabaseOptions): Database {
  const directUrl = options.directUrl ?? url;
  const isPooled = directUrl !== url;
  const idleTimeoutMs = options.idleTimeoutMs ?? IDLE_TIMEOUT_MS;
  const pipelined =
    !isPooled && options.maxConnections >= FEWEST_TO_PIPELINE ? openPipelined(url, options, idleTimeoutMs) : null;
  const pool = new pg.Pool({
    Client: DatabaseClient,
    ...connectionConfig(url, options),
    max: options.maxConnections - (pipelined ? MAX_PIPELINED : 0),
    idleTimeoutMillis: idleTimeoutMs,
    // A pooler rejects settings among the connection parameters, so they are made after connecting.
    ...(isPooled ? {} : { onConnect: (client) => setUp(client as pg.Client, options) }),
  });
  pool.on('error', (cause) => {
    // The pool adds the connection object, which would fill pages of a log line.
    delete (cause as { client?: unknown }).client;
    options.onConnectionLost?.(cause);
  });
  // Without a listener, a connection that breaks before it is handed over would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  const listener = new Listener({
    config: connectionConfig(directUrl, options),
    setUp: (client) => setUp(client, options),
  });
  const sql = isPooled
    ? sqlOver({ query: (statement) => queryPooled(pool, statement) }, withoutName)
    : sqlOver({
        query: (statement) => (pipelined && statement.isBrief ? pipelined : pool).query(statement),
      });
  const notifier = new Notifier(sql, options.notifyIntervalMs);
  const notify: Sql['notify'] = (...notification) => notifier.add(...notification);
  return {
    ...sql,
    notify,
    transaction: (work, more = {}) => inTransaction(pool, work, { ...more, isPooled, notify }),
    listen: (channel, onNotify) => listener.add(channel, onNotify),
    async close() {
      await notifier.close();
      await Promise.all([pool.end(), listener.close(), pipelined?.close()]);
    },
  };
}

function connectionConfig(connectionString: string, { timeouts = TIMEOUTS }: DatabaseOptions): pg.ClientConfig {
  return connectionOptions(connectionString, {
    connectionTimeoutMillis: timeouts.connectMs,
    query_timeout: timeouts.queryMs,
    keepAlive: true,
    // TCP keep-alive ends the wait for a peer that is gone.
    keepAliveInitialDelayMillis: 10_000,
  });
}

function openPipelined(url: string, options: DatabaseOptions, idleTimeoutMs: number): PipelinedConnections {
  return new PipelinedConnections({
    max: MAX_PIPELINED,
    idleTimeoutMs,
    async connect(onEnd) {
      const client = new DatabaseClient({ ...connectionConfig(url, options), pipeline: true });
      client.on('error', (cause) => options.onConnectionLost?.(cause)).on('end', onEnd);
      try {
        await client.connect();
        await setUp(client, options);
        return client;
      } catch (cause) {
        client.end().catch(() => undefined);
        throw cause;
      }
    },
  });
}

async function setUp(client: pg.Client, { plansOnce, timeouts = TIMEOUTS }: DatabaseOptions): Promise<void> {
  const settings = [
    `set statement_timeout = ${timeouts.statementMs}`,
    `set idle_in_transaction_session_timeout = ${BOUNDS.idleInTransactionMs}`,
    // Compiling takes 100 ms, each time; the longest statement takes 20. The plan's costs would ask for it.
    'set jit = off',
  ];
  // The plan must also be good after an empty table has grown: no plan that reads a whole table or index.
  if (plansOnce)
    settings.push(
      // Citus cannot plan a statement over several shards without its values.
      `select set_config('plan_cache_mode', 'force_generic_plan', false)
        where not exists (select from pg_extension where extname = 'citus')`,
      'set enable_seqscan = off',
      'set enable_bitmapscan = off',
      'set enable_hashjoin = off',
      'set enable_mergejoin = off',
    );
  await client.query(settings.join(';'));
}

// pg accepts a timeout per statement; its types leave it out.
type Prepare = (statement: Statement) => pg.QueryConfig & { query_timeout?: number };
type Queryable = { query(statement: pg.QueryConfig & Pick<Statement, 'isBrief'>): Promise<pg.QueryResult> };

const withoutName: Prepare = ({ text, values }) => ({ text, ...(values && { values }) });
const withoutTimeout: Prepare = (statement) => ({ ...withoutName(statement), query_timeout: LONGEST_TIMER_MS });

function sqlOver(client: Queryable, prepare: Prepare = (statement) => statement): Omit<Sql, 'notify'> {
  return {
    rows: async <Row>(statement: Statement) => (await client.query(prepare(statement))).rows as Row[],
    run: async (statement) => (await client.query(prepare(statement))).rowCount ?? 0,
  };
}

/** Runs one statement through the pooler. The server has no timeout there: the client cancels the statement. */
async function queryPooled(pool: pg.Pool, statement: pg.QueryConfig): Promise<pg.QueryResult> {
  const client = await pool.connect();
  try {
    const result = await client.query(statement);
    client.release();
    return result;
  } catch (cause) {
    const broken = isDatabaseAway(cause) ? (cause as Error) : undefined;
    // The connection must stay open until the pooler has cancelled the statement; the caller does not wait for that.
    if (isClientTimeout(cause)) void cancelStatement(client).then(() => client.release(broken));
    else client.release(broken);
    throw cause;
  }
}

async function inTransaction<Result>(
  pool: pg.Pool,
  work: (tx: Sql) => Promise<Result>,
  options: TransactionOptions & { isPooled: boolean; notify: Sql['notify'] },
): Promise<Result> {
  const client = await pool.connect();
  const notifications: Parameters<Sql['notify']>[] = [];
  const notify: Sql['notify'] = (...notification) => void notifications.push(notification);
  let broken: Error | undefined;
  const onError = (cause: Error) => {
    broken = cause;
  };
  client.on('error', onError);
  try {
    await client.query(beginOf(options));
    const result = await work({ ...sqlOver(client, prepareOf(options)), notify });
    await client.query('commit');
    for (const notification of notifications) options.notify(...notification);
    return result;
  } catch (cause) {
    // No rollback statement when the server does not answer: the connection is closed, which rolls back.
    if (isDatabaseAway(cause)) broken = cause as Error;
    else await client.query('rollback').catch((error: Error) => (broken = error));
    throw cause;
  } finally {
    client.off('error', onError);
    client.release(broken);
  }
}

/** `begin` with the settings of the transaction, in one round trip. */
function beginOf({ withoutTimeouts, isPooled }: TransactionOptions & { isPooled: boolean }): string {
  if (withoutTimeouts) {
    const names = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'];
    return ['begin', ...names.map((name) => `set local ${name} = 0`)].join(';');
  }
  if (!isPooled) return 'begin';
  return `begin; set local statement_timeout = ${BOUNDS.statementTimeoutMs};
    set local idle_in_transaction_session_timeout = ${BOUNDS.idleInTransactionMs}; set local jit = off`;
}

function prepareOf({ withoutTimeouts, isPooled }: TransactionOptions & { isPooled: boolean }): Prepare | undefined {
  if (withoutTimeouts) return withoutTimeout;
  return isPooled ? withoutName : undefined;
}

/**
 * Whether the database could not be reached or the connection was lost: the statement is correct and may be retried.
 */
export function isDatabaseAway(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code !== 'string') return isConnectionMessage(error);
  // Class 08: connection exception; 53: out of resources; 57P: operator intervention; 57014: statement timeout; 58: its
  // disk or files; 25006: a primary that was demoted; 25P03: idle in a transaction for too long.
  return (
    /^(08|53|57P|57014|58|25006|25P03)/.test(code) ||
    /^(ECONN|EPIPE|ENOENT|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ERR_STREAM_)/.test(code) ||
    // Whatever the system says, such as EMFILE: no connection came about, so no statement was at fault.
    isTlsFailure(code) ||
    ['connect', 'getaddrinfo', 'socket'].includes(String((error as { syscall?: unknown }).syscall))
  );
}

/** Whether the server ended a statement that lasted too long: its rows are locked, or the server is overloaded. */
export function isStatementTimeout(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === '57014';
}

/** Logs that an activity, such as `claiming jobs`, failed: as a warning while the database is away, which heals. */
export function logFailure(log: Log, err: unknown, activity: string, fields: Record<string, unknown> = {}): void {
  if (isDatabaseAway(err)) log.warn({ ...fields, err }, `${activity} failed: the database is unavailable`);
  else log.error({ ...fields, err }, `${activity} failed`);
}

/** Whether the server rejected a statement and rolled back. False after a lost connection: the outcome is unknown. */
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
    /connection terminated|not queryable|SSL connection|timeout expired|timeout exceeded when trying to connect|query read timeout/i.test(
      error.message,
    )
  );
}
