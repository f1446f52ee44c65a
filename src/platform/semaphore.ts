/** Runs work under one of a number of permits; calls beyond them wait in order of arrival. */
export type Semaphore = <Result>(work: () => Promise<Result>, signal?: AbortSignal) => Promise<Result>;

/**
 * @param permits  how many calls run at once, 1 or more; a function is asked whenever a call arrives or has ended
 * An abort ends the wait with the signal's reason; work that has started must watch the signal itself.
 */
export function openSemaphore(permits: number | (() => number)): Semaphore {
  const waiting = new Set<() => void>();
  const isFree = typeof permits === 'number' ? () => taken < permits : () => taken < permits();
  let taken = 0;

  async function acquire(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (waiting.size === 0 && isFree()) {
      taken += 1;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const abandon = () => waiting.delete(resolve) && reject(signal!.reason);
    waiting.add(resolve);
    signal?.addEventListener('abort', abandon);
    await promise.finally(() => signal?.removeEventListener('abort', abandon));
  }

  /** A permit passes directly to the next caller: no later call overtakes. */
  function release(): void {
    taken -= 1;
    for (const next of waiting) {
      if (!isFree()) return;
      waiting.delete(next);
      taken += 1;
      next();
    }
  }

  return async (work, signal) => {
    await acquire(signal);
    try {
      return await work();
    } finally {
      release();
    }
  };
}
