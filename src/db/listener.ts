import pg from 'pg';
import { DatabaseClient } from './connection.ts';

type OnNotify = (payload: string) => void;

const RELISTEN_DELAY_MS = 500;

type ListenerOptions = {
  config: pg.ClientConfig;
  /** Makes the settings of the connection. */
  setUp(client: pg.Client): Promise<void>;
};

/**
 * One LISTEN connection for all channels of a process; it reconnects after it was lost. Callers also poll, so that
 * missed notifications only delay their work.
 */
export class Listener {
  readonly #options: ListenerOptions;
  readonly #channels = new Map<string, Set<OnNotify>>();
  #client: pg.Client | null = null;
  /** The end of the last statement on the connection; never rejects. */
  #last: Promise<unknown> = Promise.resolve();
  #connecting: Promise<void> | null = null;
  #retry: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  /**
   * Calls back for every NOTIFY on the channel, once for each word of a payload with commas, and with '' after each
   * (re)connection: notifications may have been missed.
   */
  async add(channel: string, onNotify: OnNotify): Promise<() => Promise<void>> {
    const handlers = this.#channels.get(channel) ?? new Set();
    this.#channels.set(channel, handlers.add(onNotify));
    await this.#connecting;
    if (this.#client) await this.#subscribe(this.#client, channel).catch(() => undefined);
    else await this.#connect();
    return async () => {
      handlers.delete(onNotify);
      const isLast = [...this.#channels.values()].every((others) => others.size === 0);
      if (isLast) await this.#disconnect();
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#disconnect();
  }

  async #disconnect(): Promise<void> {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    const client = this.#client;
    this.#client = null;
    await this.#last;
    await client?.end();
  }

  #connect(): Promise<void> {
    this.#connecting ??= this.#open().finally(() => {
      this.#connecting = null;
    });
    return this.#connecting;
  }

  async #open(): Promise<void> {
    const client = new DatabaseClient(this.#options.config);
    client.on('notification', ({ channel, payload }) => this.#notify(channel, payload ?? ''));
    client.on('error', () => client.end().catch(() => undefined));
    client.on('end', () => {
      if (this.#client === client) this.#client = null;
      this.#reconnectLater();
    });
    try {
      await client.connect();
      await this.#options.setUp(client);
      this.#last = Promise.resolve();
      for (const channel of this.#channels.keys()) await this.#subscribe(client, channel);
      if (this.#isWanted()) this.#client = client;
      else await client.end();
    } catch {
      // After a statement timeout the connection is still open.
      client.end().catch(() => undefined);
      this.#reconnectLater();
    }
  }

  async #subscribe(client: pg.Client, channel: string): Promise<void> {
    const listening = this.#last.then(() => client.query(`listen ${pg.escapeIdentifier(channel)}`));
    this.#last = listening.catch(() => undefined);
    await listening;
    this.#notify(channel, '');
  }

  #notify(channel: string, payload: string): void {
    for (const word of payload.split(',')) {
      for (const onNotify of this.#channels.get(channel) ?? []) onNotify(word);
    }
  }

  #isWanted(): boolean {
    return !this.#isClosed && [...this.#channels.values()].some((handlers) => handlers.size > 0);
  }

  #reconnectLater(): void {
    if (this.#retry || !this.#isWanted()) return;
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      if (!this.#client) void this.#connect();
    }, RELISTEN_DELAY_MS);
  }
}
