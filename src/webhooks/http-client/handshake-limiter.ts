import type { Deadlines } from '../../egress/deadlines.ts';

/** Permission for one TLS handshake. */
export type HandshakePermit = {
  /** Frees the permit; further calls have no effect. */
  release(): void;
};

export type HandshakeLimiterOptions = {
  /** Largest number of handshakes at once. */
  permits: number;
  maxWaitMs: number;
  deadlines: Pick<Deadlines, 'start'>;
};

type Waiter = (permit: HandshakePermit | null) => void;

// Most receivers that hang are degraded: five sixths of the permits are reserved for the others.
const DEGRADED_SHARE = 1 / 6;
// A receiver that does not answer costs no processor time, so its handshake is no longer counted after this.
const MAX_HOLD_MS = 100;

/**
 * Limits concurrent TLS handshakes. A burst of thousands would block the event loop for seconds, and receivers that
 * answered would time out.
 */
export class HandshakeLimiter {
  readonly #options: HandshakeLimiterOptions;
  readonly #degradedPermits: number;
  readonly #healthyWaiters = new Set<Waiter>();
  readonly #degradedWaiters = new Set<Waiter>();
  #held = 0;
  #heldByDegraded = 0;

  constructor(options: HandshakeLimiterOptions) {
    this.#options = options;
    this.#degradedPermits = Math.max(1, Math.floor(options.permits * DEGRADED_SHARE));
  }

  /**
   * A permit, or null when none is free within `maxWaitMs`.
   * @param isDegraded  the receiver has been failing or is new: it waits behind the others, for a share of the permits
   */
  acquire(isDegraded: boolean): Promise<HandshakePermit | null> {
    if (this.#isAvailable(isDegraded)) return Promise.resolve(this.#grant(isDegraded));
    const waiters = isDegraded ? this.#degradedWaiters : this.#healthyWaiters;
    return new Promise((resolve) => {
      const deadline = this.#options.deadlines.start(this.#options.maxWaitMs);
      const waiter: Waiter = (permit) => {
        waiters.delete(waiter);
        deadline.cancel();
        resolve(permit);
      };
      deadline.onExpired = () => waiter(null);
      waiters.add(waiter);
    });
  }

  /** Ends every wait with null. */
  close(): void {
    for (const waiter of [...this.#healthyWaiters, ...this.#degradedWaiters]) waiter(null);
  }

  #isAvailable(isDegraded: boolean): boolean {
    return this.#held < this.#options.permits && (!isDegraded || this.#heldByDegraded < this.#degradedPermits);
  }

  #grant(isDegraded: boolean): HandshakePermit {
    this.#held += 1;
    if (isDegraded) this.#heldByDegraded += 1;
    let isReleased = false;
    const deadline = this.#options.deadlines.start(MAX_HOLD_MS);
    const release = () => {
      if (isReleased) return;
      isReleased = true;
      deadline.cancel();
      this.#held -= 1;
      if (isDegraded) this.#heldByDegraded -= 1;
      this.#grantNext();
    };
    // After a stall of the event loop, answers that have arrived meanwhile are processed first.
    deadline.onExpired = () => setImmediate(release);
    return { release };
  }

  #grantNext(): void {
    const [healthy] = this.#healthyWaiters;
    const [degraded] = this.#degradedWaiters;
    if (healthy) healthy(this.#grant(false));
    else if (degraded && this.#isAvailable(true)) degraded(this.#grant(true));
  }
}
