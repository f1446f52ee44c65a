/** A time limit of one attempt. Call `cancel` when the attempt ends before it. */
export type Deadline = {
  readonly isExpired: boolean;
  /** Called once when the time is up, to stop the current step. Each step sets its own function. */
  onExpired: () => void;
  cancel(): void;
};

// A deadline may expire this much late. 20 ms is little beside 5 s, and one timer serves thousands of attempts.
const TICK_MS = 20;

type Entry = Deadline & { dueTick: number; isExpired: boolean };

/** A timer wheel: one interval timer for all deadlines. An abort signal with a timer for each attempt costs 12 µs each. */
export class DeadlineWheel {
  readonly #maxMs: number;
  readonly #slots: Set<Entry>[];
  readonly #startedAt = performance.now();
  /** The last tick whose slot was processed. */
  #processedTick = 0;
  #openCount = 0;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** @param maxMs  the longest deadline; longer ones are shortened to it */
  constructor(maxMs: number) {
    this.#maxMs = maxMs;
    this.#slots = Array.from({ length: Math.ceil(maxMs / TICK_MS) + 2 }, () => new Set<Entry>());
  }

  /** A deadline so many milliseconds from now; after `expireAll`, at the next tick. */
  start(ms: number): Deadline {
    if (this.#openCount === 0) this.#startTimer();
    this.#openCount += 1;
    const ticks = this.#isClosed ? 1 : Math.max(1, Math.ceil(Math.min(ms, this.#maxMs) / TICK_MS));
    const dueTick = this.#currentTick() + ticks;
    const slot = this.#slotOf(dueTick);
    const entry: Entry = {
      dueTick,
      isExpired: false,
      onExpired: () => undefined,
      cancel: () => {
        if (slot.delete(entry)) this.#countDown();
      },
    };
    slot.add(entry);
    return entry;
  }

  /** Expires every open deadline now. */
  expireAll(): void {
    this.#isClosed = true;
    // A copy: deadlines that `onExpired` starts are not included, otherwise this loop might not end.
    const entries = this.#slots.flatMap((slot) => [...slot].map((entry) => ({ slot, entry })));
    for (const { slot, entry } of entries) if (slot.has(entry)) this.#expire(slot, entry);
  }

  #startTimer(): void {
    this.#processedTick = this.#currentTick();
    this.#timer = setInterval(() => this.#processTicks(), TICK_MS);
  }

  #processTicks(): void {
    const target = this.#currentTick();
    // After a stall longer than a whole rotation, one rotation reaches every slot.
    this.#processedTick = Math.max(this.#processedTick, target - this.#slots.length);
    while (this.#processedTick < target && this.#openCount > 0) {
      this.#processedTick += 1;
      const slot = this.#slotOf(this.#processedTick);
      for (const entry of slot) {
        // After a stall a slot may also hold deadlines of the next rotation.
        if (entry.dueTick <= target) this.#expire(slot, entry);
      }
    }
  }

  #expire(slot: Set<Entry>, entry: Entry): void {
    slot.delete(entry);
    this.#countDown();
    entry.isExpired = true;
    entry.onExpired();
  }

  #countDown(): void {
    this.#openCount -= 1;
    if (this.#openCount === 0) clearInterval(this.#timer);
  }

  #slotOf(tick: number): Set<Entry> {
    return this.#slots[tick % this.#slots.length]!;
  }

  #currentTick(): number {
    return Math.floor((performance.now() - this.#startedAt) / TICK_MS);
  }
}
