type Shard = {
  isOwned: boolean;
  /** Nothing starts: results cannot be recorded. */
  isHeld: boolean;
  /** Answers of reads up to this number are from before the process owned the shard. */
  ownedAfterRead: number;
  unsettled: number;
  /** Ids of the webhooks with something in memory or spilled. */
  webhooks: Set<string>;
};

/** The shards of which rows are accepted, and those that are lost but have attempts to be settled. */
export class OwnedShards {
  readonly #shards = new Map<number, Shard>();

  add(shard: number, lastRead: number): void {
    const known = this.#shards.get(shard) ?? { isHeld: false, unsettled: 0, webhooks: new Set() };
    this.#shards.set(shard, { ...known, isOwned: true, ownedAfterRead: lastRead });
  }

  /** No longer accepts rows of the shard. */
  remove(shard: number): void {
    const removed = this.#shards.get(shard);
    if (!removed) return;
    removed.isOwned = false;
    this.#deleteIfIdle(shard, removed);
  }

  /** For a shard with unsettled attempts only. */
  hold(shard: number, isHeld: boolean): void {
    const held = this.#shards.get(shard);
    if (held) held.isHeld = isHeld;
  }

  isHeld(shard: number): boolean {
    return this.#shards.get(shard)?.isHeld ?? false;
  }

  isOwned(shard: number): boolean {
    return this.#shards.get(shard)?.isOwned ?? false;
  }

  /** Whether the read began when the shard was already owned. */
  isOwnedSince(shard: number, read: number): boolean {
    return read > this.#shards.get(shard)!.ownedAfterRead;
  }

  /** Attempts that have started and are not settled. */
  unsettledOf(shard: number): number {
    return this.#shards.get(shard)?.unsettled ?? 0;
  }

  webhooksOf(shard: number): string[] {
    return [...(this.#shards.get(shard)?.webhooks ?? [])];
  }

  started(shard: number): void {
    this.#shards.get(shard)!.unsettled++;
  }

  settled(shard: number): void {
    const found = this.#shards.get(shard)!;
    found.unsettled--;
    this.#deleteIfIdle(shard, found);
  }

  addWebhook(shard: number, id: string): void {
    this.#shards.get(shard)!.webhooks.add(id);
  }

  removeWebhook(shard: number, id: string): void {
    this.#shards.get(shard)!.webhooks.delete(id);
  }

  #deleteIfIdle(number: number, shard: Shard): void {
    if (!shard.isOwned && shard.unsettled === 0) this.#shards.delete(number);
  }
}
