import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import type { Clock } from '../src/platform/clock.ts';

/** A clock that stands still until the test advances it. */
export type ManualClock = Clock & {
  /** Ends every sleep that falls into the next `ms`, in order, also those that are begun meanwhile. */
  advance(ms: number): Promise<void>;
};

export function openManualClock(): ManualClock {
  let nowMs = 0;
  const asleep = new Set<{ atMs: number; wake: () => void }>();
  return {
    now: () => nowMs,
    sleep(ms, signal) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const sleeper = { atMs: nowMs + ms, wake: resolve };
      asleep.add(sleeper);
      signal?.addEventListener('abort', () => resolve());
      if (signal?.aborted) resolve();
      return promise.finally(() => asleep.delete(sleeper));
    },
    async advance(ms) {
      const untilMs = nowMs + ms;
      for (;;) {
        const [next] = [...asleep].toSorted((left, right) => left.atMs - right.atMs);
        if (!next || next.atMs > untilMs) break;
        nowMs = next.atMs;
        next.wake();
        // Whoever wakes up comes to begin its next sleep.
        await turnOfTheLoop();
      }
      nowMs = untilMs;
    },
  };
}
