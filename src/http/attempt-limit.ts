const WINDOW_MS = 60_000;
/** Of wrong tokens of the operator. */
const WRONG_TOKENS: Limits = { maxOfClient: 10, maxOfAll: 100 };
const MAX_CLIENTS = 10_000;

/** Per minute: of one client, and of all together. */
type Limits = { maxOfClient: number; maxOfAll: number };
type Attempts = { count: number; sinceMs: number };

/**
 * Limits attempts to guess. A client with too many in a minute is refused for the rest of the minute; after too many of
 * all clients together, every client that has made one is. Stores at most 10,000 clients and deletes the oldest first.
 *
 * What people choose, such as a password, is guessed by trying: `retryAfterSeconds` is asked before a look at it, and
 * the right one is refused too, since an answer would tell that it is right. What was no wrong guess is taken back. A
 * token of random bits is looked at first: the right one passes, whatever strangers at its address have sent, and
 * `count` decides how a wrong one is answered.
 */
export class AttemptLimit {
  readonly #clients = new Map<string, Attempts>();
  readonly #limits: Limits;
  readonly #monotonicMs: () => number;
  #all: Attempts = { count: 0, sinceMs: 0 };

  /**
   * @param limits  by default 10 of one client, 100 of all
   * @param monotonicMs  a monotonic clock; the process's by default
   */
  constructor(limits: Limits = WRONG_TOKENS, monotonicMs: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#monotonicMs = monotonicMs;
  }

  /** Seconds until the client may try again, at least 1; null when it may now. */
  retryAfterSeconds(client: string): number | null {
    const attempts = this.#attemptsOf(client);
    if (!attempts) return null;
    if (attempts.count >= this.#limits.maxOfClient) return this.#secondsLeft(attempts);
    if (attempts.count === 0) return null;
    return this.#isOpen(this.#all) && this.#all.count >= this.#limits.maxOfAll ? this.#secondsLeft(this.#all) : null;
  }

  /** Counts one more attempt of the client. Returns what takes it back, where it was no wrong guess. */
  add(client: string): () => void {
    const attempts = this.#attemptsOf(client) ?? { count: 0, sinceMs: this.#monotonicMs() };
    if (!this.#clients.has(client) && this.#clients.size >= MAX_CLIENTS) {
      const [oldest] = this.#clients.keys();
      this.#clients.delete(oldest!);
    }
    this.#clients.set(client, attempts);
    if (!this.#isOpen(this.#all)) this.#all = { count: 0, sinceMs: this.#monotonicMs() };
    const counted = [attempts, this.#all];
    for (const each of counted) each.count += 1;
    return () => {
      for (const each of counted.splice(0)) each.count -= 1;
    };
  }

  /** Counts an attempt, unless there were too many. Returns the seconds for which it is refused; null: it counts. */
  count(client: string): number | null {
    const seconds = this.retryAfterSeconds(client);
    if (seconds === null) this.add(client);
    return seconds;
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
