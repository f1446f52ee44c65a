/** A time limit of one attempt. Call `cancel` when the attempt ends before it. */
export type Deadline = {
  readonly isExpired: boolean;
  /** Called once when the time is up, to stop the current step. Each step sets its own function. */
  onExpired: () => void;
  cancel(): void;
};

/**
 * The open deadlines of a poster. An abort signal with a timer for each attempt costs 12 µs, a plain timer less than 1.
 */
export class Deadlines {
  // An array and not a Set: each table that a growing Set leaves behind refers to the next one. Once one of them is in
  // the old generation, all later attempts stay in memory until it is collected, which made garbage cost 10 µs per
  // attempt.
  readonly #open: OpenDeadline[] = [];
  #isClosed = false;

  /** A deadline this number of milliseconds from now; after `expireAll`, at once. */
  start(ms: number): Deadline {
    return new OpenDeadline(this.#isClosed ? 0 : ms, this.#open);
  }

  /** Expires every open deadline now. */
  expireAll(): void {
    this.#isClosed = true;
    for (const deadline of [...this.#open]) deadline.expire();
  }
}

class OpenDeadline implements Deadline {
  isExpired = false;
  onExpired: () => void = nothing;
  readonly #timer: NodeJS.Timeout;
  readonly #open: OpenDeadline[];
  /** Position in `#open`; -1 when it is no longer there. */
  #index: number;

  constructor(ms: number, open: OpenDeadline[]) {
    this.#open = open;
    this.#index = open.push(this) - 1;
    this.#timer = setTimeout(expire, ms, this);
  }

  cancel(): void {
    if (this.#index < 0) return;
    clearTimeout(this.#timer);
    const last = this.#open.pop()!;
    if (last !== this) {
      this.#open[this.#index] = last;
      last.#index = this.#index;
    }
    this.#index = -1;
  }

  expire(): void {
    if (this.#index < 0) return;
    this.cancel();
    this.isExpired = true;
    this.onExpired();
  }
}

function nothing(): void {}

function expire(deadline: OpenDeadline): void {
  deadline.expire();
}
