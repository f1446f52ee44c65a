/** A point in time after which an attempt is over. Settle it with `cancel` when the attempt ended before. */
export type Deadline = {
  readonly isOver: boolean;
  /** Called once when the time is up: what stops the step under way. Each step puts its own here. */
  onOver: () => void;
  cancel(): void;
};

export type DeadlineWheel = {
  /** @param ms  from now, at most the wheel's `maxMs` */
  start(ms: number): Deadline;
  /** Every deadline is over, now; one that is started from here on is over at the next tick. */
  expireAll(): void;
};

// Deadlines may fall this much late; 20 ms is nothing beside 5 s, and one timer serves thousands of attempts.
const TICK_MS = 20;

type Entry = { dueTick: number; isOver: boolean; onOver: () => void; cancel(): void };

/** One interval timer for all deadlines: an abort signal with a timer for each attempt would cost 12 µs apiece. */
export function openDeadlineWheel(maxMs: number): DeadlineWheel {
  const slots = Array.from({ length: Math.ceil(maxMs / TICK_MS) + 2 }, () => new Set<Entry>());
  const startedAt = performance.now();
  let turned = 0;
  let open = 0;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function start(ms: number): Deadline {
    if (open === 0) wind();
    open += 1;
    const ticks = isClosed ? 1 : Math.max(1, Math.ceil(Math.min(ms, maxMs) / TICK_MS));
    const dueTick = tickNow() + ticks;
    const slot = slots[dueTick % slots.length]!;
    const entry: Entry = {
      dueTick,
      isOver: false,
      onOver: () => undefined,
      cancel() {
        if (slot.delete(entry)) release();
      },
    };
    slot.add(entry);
    return entry;
  }

  function wind(): void {
    turned = tickNow();
    timer = setInterval(turn, TICK_MS);
  }

  function turn(): void {
    const target = tickNow();
    // After a stall longer than a whole turn, one turn visits every slot.
    turned = Math.max(turned, target - slots.length);
    while (turned < target && open > 0) {
      turned += 1;
      const slot = slots[turned % slots.length]!;
      for (const entry of slot) {
        // Entered during a stall that the wheel has yet to catch up with: meant for its next turn.
        if (entry.dueTick > target) continue;
        expire(slot, entry);
      }
    }
  }

  function expire(slot: Set<Entry>, entry: Entry): void {
    slot.delete(entry);
    release();
    entry.isOver = true;
    entry.onOver();
  }

  function release(): void {
    open -= 1;
    if (open === 0) clearInterval(timer);
  }

  function tickNow(): number {
    return Math.floor((performance.now() - startedAt) / TICK_MS);
  }

  return {
    start,
    expireAll() {
      isClosed = true;
      // What an end starts anew is not among them: it would be ended, and started, for as long as the tick lasts.
      const entries = slots.flatMap((slot) => [...slot].map((entry) => ({ slot, entry })));
      for (const { slot, entry } of entries) if (slot.has(entry)) expire(slot, entry);
    },
  };
}
