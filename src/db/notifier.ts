type Statement = { name: string; text: string; values: unknown[] };

type Server = {
  /** Executes a statement outside of any transaction. */
  run(statement: Statement): Promise<unknown>;
};

const DEFAULT_INTERVAL_MS = 2;
// A payload is shorter than 8,000 bytes; the words are ids, of at most 31 bytes.
const MAX_WORDS = 200;

/**
 * Sends the notifications of a process, after the commits that they announce: one statement at most every few ms with
 * all that have come, those of a channel as one payload with commas. A NOTIFY inside of the transaction would hold a
 * lock of the whole database until the transaction is flushed to disk, so that no two of them could share a flush.
 */
export class Notifier {
  readonly #server: Server;
  readonly #intervalMs: number;
  readonly #waiting = new Map<string, Set<string>>();
  #sending: Promise<void> | null = null;

  /** @param intervalMs  from one statement to the next */
  constructor(server: Server, intervalMs = DEFAULT_INTERVAL_MS) {
    this.#server = server;
    this.#intervalMs = intervalMs;
  }

  /** @param word  the payload, without commas */
  add(channel: string, word: string): void {
    const words = this.#waiting.get(channel) ?? new Set();
    this.#waiting.set(channel, words.add(word));
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = null;
    });
  }

  /** Resolves when all notifications were sent. */
  async close(): Promise<void> {
    await this.#sending;
  }

  async #sendAll(): Promise<void> {
    // The others of the same transaction are added before this resolves.
    await undefined;
    while (this.#waiting.size > 0) {
      const interval = new Promise((resolve) => setTimeout(resolve, this.#intervalMs));
      // A notification that is lost delays its listeners until they poll.
      await this.#server.run(notifyStatement(this.#takeWaiting())).catch(() => undefined);
      await interval;
    }
  }

  #takeWaiting(): [channel: string, payload: string][] {
    const taken = [...this.#waiting].flatMap(([channel, words]) =>
      batchesOf([...words]).map((batch): [string, string] => [channel, batch.join(',')]),
    );
    this.#waiting.clear();
    return taken;
  }
}

function batchesOf(words: string[]): string[][] {
  const count = Math.ceil(words.length / MAX_WORDS);
  return Array.from({ length: count }, (_, i) => words.slice(i * MAX_WORDS, (i + 1) * MAX_WORDS));
}

function notifyStatement(notifications: [channel: string, payload: string][]): Statement {
  return {
    name: 'notify',
    // Without waiting for the flush: nothing is lost with a notification.
    text: `
      select set_config('synchronous_commit', 'off', true), pg_notify(channel, payload)
      from unnest($1::text[], $2::text[]) as notification (channel, payload)`,
    values: [notifications.map(([channel]) => channel), notifications.map(([, payload]) => payload)],
  };
}
