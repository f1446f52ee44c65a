const WINDOW_MS = 60_000;
const MAX_WRONG = 10;
const MAX_CLIENTS = 10_000;

type Tries = { count: number; sinceMs: number };

/**
 * Slows a client that guesses the operator's token: after 10 wrong ones in a minute, further wrong ones are answered 429
 * for the rest of that minute. Remembers 10,000 clients at most and forgets the oldest first.
 */
export class WrongTokens {
  readonly #clients = new Map<string, Tries>();
  readonly #monotonicMs: () => number;

  /** @param monotonicMs  a clock that is never set; the process's by default */
  constructor(monotonicMs: () => number = () => performance.now()) {
    this.#monotonicMs = monotonicMs;
  }

  /** Seconds until the client may try again, at least 1; null when it may now. */
  retryAfterSeconds(client: string): number | null {
    const tries = this.#triesOf(client);
    if (!tries || tries.count < MAX_WRONG) return null;
    return Math.max(1, Math.ceil((tries.sinceMs + WINDOW_MS - this.#monotonicMs()) / 1000));
  }

  /** Counts one more wrong token of the client. */
  add(client: string): void {
    const tries = this.#triesOf(client) ?? { count: 0, sinceMs: this.#monotonicMs() };
    if (!this.#clients.has(client) && this.#clients.size >= MAX_CLIENTS) {
      const [oldest] = this.#clients.keys();
      this.#clients.delete(oldest!);
    }
    this.#clients.set(client, { ...tries, count: tries.count + 1 });
  }

  #triesOf(client: string): Tries | undefined {
    const tries = this.#clients.get(client);
    if (tries && this.#monotonicMs() - tries.sinceMs < WINDOW_MS) return tries;
    this.#clients.delete(client);
    return undefined;
  }
}
