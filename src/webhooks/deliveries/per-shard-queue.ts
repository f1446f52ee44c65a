export type LaneQueue = {
  /** Asks for work on a lane; a lane asked for while its work runs is worked on once more. */
  add(lane: number): void;
  /** Resolves when nothing is asked for and nothing runs. */
  idle(): Promise<void>;
  /** Takes no more lanes, and forgets those that wait. */
  stop(): void;
};

/**
 * Runs work lane by lane: never twice at once for a lane, for at most `concurrency` lanes at once, in the order in
 * which they were asked for. Whatever gathers on a lane while its work runs is done in one go after it.
 * @param work  must not reject
 */
export function openLaneQueue(concurrency: number, work: (lane: number) => Promise<void>): LaneQueue {
  const asked = new Set<number>();
  const running = new Set<number>();
  let stopped = false;
  const whenIdle: (() => void)[] = [];

  function add(lane: number): void {
    if (stopped) return;
    asked.add(lane);
    startNext();
  }

  function startNext(): void {
    for (const lane of asked) {
      if (running.size >= concurrency) return;
      if (running.has(lane)) continue;
      asked.delete(lane);
      running.add(lane);
      work(lane).finally(() => {
        running.delete(lane);
        startNext();
      });
    }
    if (asked.size === 0 && running.size === 0) {
      for (const resolve of whenIdle.splice(0)) resolve();
    }
  }

  function idle(): Promise<void> {
    if (asked.size === 0 && running.size === 0) return Promise.resolve();
    return new Promise((resolve) => whenIdle.push(resolve));
  }

  return {
    add,
    idle,
    stop() {
      stopped = true;
      asked.clear();
    },
  };
}
