/** Runs work, at most so much of it at once; the rest waits its turn in the order it came. */
export type Gate = <Result>(work: () => Promise<Result>, signal?: AbortSignal) => Promise<Result>;

type Waiter = { enter: () => void };

/**
 * @param places  how much runs at once, 1 or more
 * The signal ends the wait, with its reason; work that has begun must watch it by itself.
 */
export function openGate(places: number): Gate {
  const waiting = new Set<Waiter>();
  let free = places;

  async function enter(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (free > 0) {
      free--;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter = { enter: resolve };
    const giveUp = () => waiting.delete(waiter) && reject(signal!.reason);
    waiting.add(waiter);
    signal?.addEventListener('abort', giveUp);
    await promise.finally(() => signal?.removeEventListener('abort', giveUp));
  }

  /** A place that is handed on never looks free: nobody can slip in between. */
  function leave(): void {
    const [next] = waiting;
    if (!next) {
      free++;
      return;
    }
    waiting.delete(next);
    next.enter();
  }

  return async (work, signal) => {
    await enter(signal);
    try {
      return await work();
    } finally {
      leave();
    }
  };
}
