/** Runs work under one of a fixed number of permits; calls beyond them wait in order of arrival. */
export type Semaphore = <Result>(work: () => Promise<Result>, signal?: AbortSignal) => Promise<Result>;

/**
 * @param permits  how many calls run at once, 1 or more
 * An abort ends the wait with the signal's reason; work that has started must watch the signal itself.
 */
export function openSemaphore(permits: number): Semaphore {
  const waiting = new Set<() => void>();
  let free = permits;

  async function acquire(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (free > 0) {
      free -= 1;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const abandon = () => waiting.delete(resolve) && reject(signal!.reason);
    waiting.add(resolve);
    signal?.addEventListener('abort', abandon);
    await promise.finally(() => signal?.removeEventListener('abort', abandon));
  }

  /** A permit passes directly to the next caller: while calls wait, `free` stays 0 and no later call overtakes. */
  function release(): void {
    const [next] = waiting;
    if (!next) {
      free += 1;
      return;
    }
    waiting.delete(next);
    next();
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
