// Long enough to hold answers that came without delay, short enough to follow a clock that was set back.
const WINDOW_MS = 10_000;

/**
 * The database's time between its answers. It is at most as late as the database's own, so that nothing starts early.
 */
export class DatabaseClock {
  readonly #monotonicMs: () => number;
  #windowEndsMs = Number.NEGATIVE_INFINITY;
  /**
   * The largest differences between the two clocks in this window and the one before: an answer's way makes it smaller.
   */
  #offsetMs = Number.NEGATIVE_INFINITY;
  #previousOffsetMs = Number.NEGATIVE_INFINITY;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** Takes the time that an answer brought. */
  adjust(nowMs: number): void {
    const monotonicMs = this.#monotonicMs();
    if (monotonicMs >= this.#windowEndsMs) {
      this.#previousOffsetMs = this.#offsetMs;
      this.#offsetMs = Number.NEGATIVE_INFINITY;
      this.#windowEndsMs = monotonicMs + WINDOW_MS;
    }
    this.#offsetMs = Math.max(this.#offsetMs, nowMs - monotonicMs);
  }

  /** In ms since the epoch; -Infinity before the first answer. */
  nowMs(): number {
    return this.#monotonicMs() + Math.max(this.#offsetMs, this.#previousOffsetMs);
  }
}
