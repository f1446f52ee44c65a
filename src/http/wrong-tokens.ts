const WINDOW_MS = 60_000;
const LIMITS = { maxWrong: 10, maxWrongOfAll: 100 };
const MAX_CLIENTS = 10_000;

/** Per minute: of one client, and of all together. */
type Limits = { maxWrong: number; maxWrongOfAll: number };
type Attempts = { count: number; sinceMs: number };

/**
 * Counts wrong operator tokens. After 10 in a minute, every token of that client is refused for the rest of the minute,
 * the right one too: an answer would tell that it is right. After 100 of all clients together, every client that has
 * sent a wrong one is refused. Stores at most 10,000 clients and deletes the oldest first.
 */
export class WrongTokens {
  readonly #clients = new Map<string, Attempts>();
  readonly #limits: Limits;
  readonly #monotonicMs: () => number;
  #all: Attempts = { count: 0, sinceMs: 0 };

  /**
   * @param limits  others than 10 and 100
   * @param monotonicMs  a monotonic clock; the process's by default
   */
  constructor(limits: Limits = LIMITS, monotonicMs: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#monotonicMs = monotonicMs;
  }

  /** Seconds until the client may try again, at least 1; null when it may now. */
  retryAfterSeconds(client: string): number | null {
    const attempts = this.#attemptsOf(client);
    if (!attempts) return null;
    if (attempts.count >= this.#limits.maxWrong) return this.#secondsLeft(attempts);
    return this.#isOpen(this.#all) && this.#all.count >= this.#limits.maxWrongOfAll
      ? this.#secondsLeft(this.#all)
      : null;
  }

  /** Counts one more wrong token of the client. */
  add(client: string): void {
    const attempts = this.#attemptsOf(client) ?? { count: 0, sinceMs: this.#monotonicMs() };
    if (!this.#clients.has(client) && this.#clients.size >= MAX_CLIENTS) {
      const [oldest] = this.#clients.keys();
      this.#clients.delete(oldest!);
    }
    this.#clients.set(client, { ...attempts, count: attempts.count + 1 });
    if (!this.#isOpen(this.#all)) this.#all = { count: 0, sinceMs: this.#monotonicMs() };
    this.#all.count += 1;
  }

  #attemptsOf(client: string): Attempts | undefined {
    const attempts = this.#clients.get(client);
    if (attempts && this.#isOpen(attempts)) return attempts;
    this.#clients.delete(client);
    return undefined;
  }

  #isOpen({ sinceMs }: Attempts): boolean {
    return this.#monotonicMs() - sinceMs < WINDOW_MS;
  }

  #secondsLeft({ sinceMs }: Attempts): number {
    return Math.max(1, Math.ceil((sinceMs + WINDOW_MS - this.#monotonicMs()) / 1000));
  }
}
