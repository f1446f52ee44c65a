/**
 * Runs `work` for queued shards in order: for at most `concurrency` shards at once, and never twice at once for one shard.
 * What arrives for a shard while its work runs is handled by one further run.
 */
export class ShardQueue {
  readonly #concurrency: number;
  readonly #work: (shard: number) => Promise<void>;
  readonly #queued = new Set<number>();
  readonly #running = new Set<number>();
  readonly #whenIdle: (() => void)[] = [];
  #isStopped = false;

  /** @param work  must not reject */
  constructor(concurrency: number, work: (shard: number) => Promise<void>) {
    this.#concurrency = concurrency;
    this.#work = work;
  }

  /** Queues a shard. A shard that is added while its work runs is worked on once more. */
  add(shard: number): void {
    if (this.#isStopped) return;
    this.#queued.add(shard);
    this.#startNext();
  }

  /** Resolves when nothing is queued and nothing runs. */
  idle(): Promise<void> {
    if (this.#isIdle()) return Promise.resolve();
    return new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  /** Removes queued shards and ignores further ones. */
  stop(): void {
    this.#isStopped = true;
    this.#queued.clear();
  }

  #startNext(): void {
    for (const shard of this.#queued) {
      if (this.#running.size >= this.#concurrency) return;
      if (this.#running.has(shard)) continue;
      this.#queued.delete(shard);
      this.#running.add(shard);
      void this.#work(shard).finally(() => {
        this.#running.delete(shard);
        this.#startNext();
      });
    }
    if (this.#isIdle()) for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  #isIdle(): boolean {
    return this.#queued.size === 0 && this.#running.size === 0;
  }
}
