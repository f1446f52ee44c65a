export type ShardQueue = {
  /** Asks for work on a shard; a shard asked for while its work runs is worked on once more. */
  add(shard: number): void;
  /** Resolves when nothing is asked for and nothing runs. */
  idle(): Promise<void>;
  /** Takes no more shards, and forgets those that wait. */
  stop(): void;
};

/**
 * Runs work shard by shard: never twice at once for a shard, for at most `concurrency` shards at once, in the order in
 * which they were asked for. Whatever gathers on a shard while its work runs is done in one go after it.
 * @param work  must not reject
 */
export function openShardQueue(concurrency: number, work: (shard: number) => Promise<void>): ShardQueue {
  const asked = new Set<number>();
  const running = new Set<number>();
  let stopped = false;
  const whenIdle: (() => void)[] = [];

  function add(shard: number): void {
    if (stopped) return;
    asked.add(shard);
    startNext();
  }

  function startNext(): void {
    for (const shard of asked) {
      if (running.size >= concurrency) return;
      if (running.has(shard)) continue;
      asked.delete(shard);
      running.add(shard);
      work(shard).finally(() => {
        running.delete(shard);
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
