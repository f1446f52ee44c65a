const WINDOW_MS = 60_000;
const MAX_WRONG = 10;
const MAX_CLIENTS = 10_000;

type Attempts = { count: number; sinceMs: number };

/**
 * Counts wrong operator tokens per client: after 10 in a minute, further wrong tokens are answered 429 for the rest of that
 * minute. Stores at most 10,000 clients and deletes the oldest first.
 */
export class WrongTokens {
  readonly #clients = new Map<string, Attempts>();
  readonly #monotonicMs: () => number;

  /** @param monotonicMs  a monotonic clock; the process's by default */
  constructor(monotonicMs: () => number = () => performance.now()) {
    this.#monotonicMs = monotonicMs;
  }

  /** Seconds until the client may try again, at least 1; null when it may now. */
  retryAfterSeconds(client: string): number | null {
    const attempts = this.#attemptsOf(client);
    if (!attempts || attempts.count < MAX_WRONG) return null;
    return Math.max(1, Math.ceil((attempts.sinceMs + WINDOW_MS - this.#monotonicMs()) / 1000));
  }

  /** Counts one more wrong token of the client. */
  add(client: string): void {
    const attempts = this.#attemptsOf(client) ?? { count: 0, sinceMs: this.#monotonicMs() };
    if (!this.#clients.has(client) && this.#clients.size >= MAX_CLIENTS) {
      const [oldest] = this.#clients.keys();
      this.#clients.delete(oldest!);
    }
    this.#clients.set(client, { ...attempts, count: attempts.count + 1 });
  }

  #attemptsOf(client: string): Attempts | undefined {
    const attempts = this.#clients.get(client);
    if (attempts && this.#monotonicMs() - attempts.sinceMs < WINDOW_MS) return attempts;
    this.#clients.delete(client);
    return undefined;
  }
}
