import type pg from 'pg';

type Open = {
  client: Promise<pg.Client>;
  /** Statements under way. */
  pending: number;
  /** Whether statements are being gathered. */
  isGathering: boolean;
  idle: NodeJS.Timeout;
};

type PipelineOptions = {
  max: number;
  idleTimeoutMs: number;
  /** Opens a connection in pipeline mode. @param onEnd  called when it breaks or ends */
  connect(onEnd: () => void): Promise<pg.Client>;
};

/**
 * Connections that many statements use at the same time, each statement a transaction of its own: statements are sent
 * without waiting for the answers to earlier ones, so that those of concurrent requests share the system calls and the
 * wake-ups of both sides. Measured with 32 callers: 15 to 25 µs of processor time per look-up in Node and 15 to 20 in
 * PostgreSQL, instead of 45 to 55 and 36 to 53 on a pool. A statement that waits delays those behind it.
 */
export class PipelinedConnections {
  readonly #options: PipelineOptions;
  readonly #open = new Set<Open>();

  constructor(options: PipelineOptions) {
    this.#options = options;
  }

  async query(statement: pg.QueryConfig): Promise<pg.QueryResult> {
    const shared = this.#leastBusy();
    shared.pending += 1;
    try {
      const client = await shared.client;
      sendTogether(shared, client);
      return await client.query(statement);
    } finally {
      shared.pending -= 1;
      shared.idle.refresh();
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open].map((shared) => this.#end(shared)));
  }

  #leastBusy(): Open {
    let least: Open | undefined;
    for (const shared of this.#open) if (!least || shared.pending < least.pending) least = shared;
    return least && (least.pending === 0 || this.#open.size >= this.#options.max) ? least : this.#add();
  }

  #add(): Open {
    const onIdle = () => {
      if (shared.pending === 0) void this.#end(shared);
    };
    const remove = () => this.#remove(shared);
    const shared: Open = {
      client: this.#options.connect(remove),
      pending: 0,
      isGathering: false,
      idle: setTimeout(onIdle, this.#options.idleTimeoutMs).unref(),
    };
    shared.client.catch(remove);
    this.#open.add(shared);
    return shared;
  }

  #remove(shared: Open): void {
    clearTimeout(shared.idle);
    this.#open.delete(shared);
  }

  async #end(shared: Open): Promise<void> {
    this.#remove(shared);
    await shared.client.then((client) => client.end()).catch(() => undefined);
  }
}

/** Sends the statements of this turn of the event loop by one system call. */
function sendTogether(shared: Open, client: pg.Client): void {
  if (shared.isGathering) return;
  shared.isGathering = true;
  const { stream } = client.connection;
  stream.cork();
  setImmediate(() => {
    shared.isGathering = false;
    stream.uncork();
  });
}
