import type { Clock } from './clock.ts';

// The service sends something every 15 s: a comment in event streams, an acknowledgement in live sessions.
const IDLE_MS = 38_000;
const TICK_MS = 4_000;
// The machine was asleep: the connection is most likely gone, and nobody told.
const CLOCK_JUMP_MS = 10_000;

/** Calls `onIdle` once when nothing came for too long while it was waited for, or when the clock jumped. */
export function watchIdle(clock: Clock, onIdle: () => void) {
  const stopped = new AbortController();
  let waitingSince: number | null = null;
  let isIdle = false;
  void (async () => {
    while (!stopped.signal.aborted && !isIdle) {
      const before = clock.now();
      await clock.sleep(TICK_MS, stopped.signal);
      const now = clock.now();
      const waitedMs = waitingSince === null ? 0 : now - waitingSince;
      // Timers of hidden pages are late too, but what comes for them is not.
      const wasAsleep = now - before > TICK_MS + CLOCK_JUMP_MS && (waitingSince === null || waitedMs > CLOCK_JUMP_MS);
      isIdle = waitedMs > IDLE_MS || wasAsleep;
    }
    if (!stopped.signal.aborted) onIdle();
  })();
  return {
    isIdle: () => isIdle,
    begin: () => {
      waitingSince = clock.now();
    },
    pause: () => {
      waitingSince = null;
    },
    stop: () => stopped.abort(),
  };
}
