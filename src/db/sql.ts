import pg from 'pg';

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
  transaction<Result>(work: (tx: Sql) => Promise<Result>): Promise<Result>;
  /** Calls back for every NOTIFY on the channel; resubscribes by itself after a lost connection. Returns the way to stop. */
  listen(channel: string, onNotify: (payload: string) => void): Promise<() => Promise<void>>;
  close(): Promise<void>;
};

export type DatabaseOptions = {
  maxConnections: number;
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
const CONNECT_TIMEOUT_MS = 3_000;
const RELISTEN_DELAY_MS = 500;

// bigint columns hold counts and credit units, all below 2^53; text would spread parsing over every store.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

/** Opens a pool on any PostgreSQL 15 or newer. Connects lazily: a database that is away shows at the first statement. */
export function openDatabase(url: string, options: DatabaseOptions): Database {
  const pool = new pg.Pool({
    connectionString: url,
    max: options.maxConnections,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: STATEMENT_TIMEOUT_MS + 500,
    application_name: 'verbatim',
    // The one plan has to serve when a table that was empty has grown: never one that reads all of it.
    ...(options.plansOnce
      ? { options: '-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c enable_bitmapscan=off' }
      : {}),
  });
  pool.on('error', (cause) => {
    // The pool adds the connection itself: pages of a log line.
    delete (cause as { client?: unknown }).client;
    options.onConnectionLost?.(cause);
  });
  // A connection may break in the very moment in which it is handed over, before anybody listens: that would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return {
    ...sqlOver(pool),
    transaction: (work) => inTransaction(pool, work),
    listen: (channel, onNotify) => listen(url, channel, onNotify),
    close: () => pool.end(),
  };
}

function sqlOver(client: pg.Pool | pg.PoolClient): Sql {
  return {
    rows: async <Row>(statement: Statement) => (await client.query(statement)).rows as Row[],
    run: async (statement) => (await client.query(statement)).rowCount ?? 0,
  };
}

async function inTransaction<Result>(pool: pg.Pool, work: (tx: Sql) => Promise<Result>): Promise<Result> {
  const client = await pool.connect();
  let broken: Error | undefined;
  const onError = (cause: Error) => {
    broken = cause;
  };
  client.on('error', onError);
  try {
    await client.query('begin');
    const result = await work(sqlOver(client));
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

async function listen(url: string, channel: string, onNotify: (payload: string) => void): Promise<() => Promise<void>> {
  let client: pg.Client | null = null;
  let stopped = false;
  let retry: NodeJS.Timeout | undefined;

  async function connect(): Promise<void> {
    const fresh = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
    });
    fresh.on('notification', (message) => onNotify(message.payload ?? ''));
    fresh.on('error', () => fresh.end().catch(() => undefined));
    fresh.on('end', reconnectLater);
    await fresh.connect();
    await fresh.query(`listen ${pg.escapeIdentifier(channel)}`);
    if (stopped) return void (await fresh.end());
    client = fresh;
    // Whatever was notified while nobody listened is looked for once.
    onNotify('');
  }

  function reconnectLater(): void {
    client = null;
    if (stopped || retry) return;
    retry = setTimeout(() => {
      retry = undefined;
      connect().catch(reconnectLater);
    }, RELISTEN_DELAY_MS);
  }

  // Listening only makes work start sooner; whoever listens also polls, so a database that is away is no error here.
  await connect().catch(reconnectLater);
  return async () => {
    stopped = true;
    clearTimeout(retry);
    await client?.end();
  };
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

/** pg reports a connection that ended or timed out as a plain Error without a code. */
function isConnectionMessage(error: unknown): boolean {
  return (
    error instanceof Error &&
    /connection terminated|not queryable|timeout exceeded when trying to connect|query read timeout/i.test(
      error.message,
    )
  );
}
