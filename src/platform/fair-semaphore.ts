/**
 * Runs work of many owners under a fixed number of permits; waiting work starts round-robin over the owners. An abort
 * ends the wait with the signal's reason; work that has started must watch the signal itself.
 */
export type FairSemaphore = <Result>(
  owner: string,
  work: () => Promise<Result>,
  signal?: AbortSignal,
) => Promise<Result>;

/**
 * @param permits   how many calls run at once, 1 or more
 * @param perOwner  how many calls of one owner run at once, so that no owner holds all permits
 */
export function openFairSemaphore({ permits, perOwner }: { permits: number; perOwner: number }): FairSemaphore {
  const running = new Map<string, number>();
  /** Waiting calls of each owner; the owner at the front is served next. */
  const waiting = new Map<string, (() => void)[]>();
  let free = permits;

  function startWaiting(): void {
    for (const [owner, starts] of waiting) {
      if (free === 0) return;
      const ofOwner = running.get(owner) ?? 0;
      if (ofOwner >= perOwner) continue;
      waiting.delete(owner);
      const start = starts.shift()!;
      // Moves the owner to the end of the map; this loop reaches it again.
      if (starts.length > 0) waiting.set(owner, starts);
      free -= 1;
      running.set(owner, ofOwner + 1);
      start();
    }
  }

  function release(owner: string): void {
    const left = running.get(owner)! - 1;
    if (left > 0) running.set(owner, left);
    else running.delete(owner);
    free += 1;
    startWaiting();
  }

  /** False where the call has started, or was abandoned before. */
  function abandon(owner: string, start: () => void): boolean {
    const starts = waiting.get(owner) ?? [];
    const index = starts.indexOf(start);
    if (index < 0) return false;
    starts.splice(index, 1);
    if (starts.length === 0) waiting.delete(owner);
    return true;
  }

  return async (owner, work, signal) => {
    signal?.throwIfAborted();
    const { promise: started, resolve: start, reject } = Promise.withResolvers<void>();
    const onAbort = () => void (abandon(owner, start) && reject(signal!.reason));
    const starts = waiting.get(owner);
    if (starts) starts.push(start);
    else waiting.set(owner, [start]);
    signal?.addEventListener('abort', onAbort);
    startWaiting();
    await started.finally(() => signal?.removeEventListener('abort', onAbort));
    try {
      return await work();
    } finally {
      release(owner);
    }
  };
}
