export type ShardQueue = {
  /** Queues a shard. A shard that is added while its work runs is worked on once more. */
  add(shard: number): void;
  /** Resolves when nothing is queued and nothing runs. */
  idle(): Promise<void>;
  /** Removes queued shards and ignores further ones. */
  stop(): void;
};

/**
 * Runs `work` for queued shards in order: for at most `concurrency` shards at once, and never twice at once for one shard.
 * What arrives for a shard while its work runs is handled by one further run.
 * @param work  must not reject
 */
export function openShardQueue(concurrency: number, work: (shard: number) => Promise<void>): ShardQueue {
  const queued = new Set<number>();
  const running = new Set<number>();
  let isStopped = false;
  const whenIdle: (() => void)[] = [];

  function add(shard: number): void {
    if (isStopped) return;
    queued.add(shard);
    startNext();
  }

  function startNext(): void {
    for (const shard of queued) {
      if (running.size >= concurrency) return;
      if (running.has(shard)) continue;
      queued.delete(shard);
      running.add(shard);
      work(shard).finally(() => {
        running.delete(shard);
        startNext();
      });
    }
    if (queued.size === 0 && running.size === 0) {
      for (const resolve of whenIdle.splice(0)) resolve();
    }
  }

  function idle(): Promise<void> {
    if (queued.size === 0 && running.size === 0) return Promise.resolve();
    return new Promise((resolve) => whenIdle.push(resolve));
  }

  return {
    add,
    idle,
    stop() {
      isStopped = true;
      queued.clear();
    },
  };
}
