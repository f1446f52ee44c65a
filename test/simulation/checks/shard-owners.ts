import type { Change } from '../schema.ts';

/** Who owned the shards when. Times are the database's, in ms. */
export class ShardOwners {
  readonly #moves: Map<number, Change[]>;

  constructor(changes: Change[]) {
    const moves = changes.filter(({ what, before, after }) => what === 'shard' && before.owner !== after.owner);
    this.#moves = Map.groupBy(moves, ({ after }) => after.shard as number);
  }

  /** The process that owned the shard when a change was made; null for none. */
  ownerAt({ number }: Change, shard: number): string | null {
    return holderOf(this.#movesOf(shard).findLast((move) => move.number < number)?.after.owner);
  }

  /**
   * Whether the process owned the shard at a time, or just before or after it: several changes may have the same time.
   */
  isOwnedAt(shard: number, holder: string, atMs: number): boolean {
    const moves = this.#movesOf(shard);
    const around = moves.filter((move) => Math.abs(move.atMs - atMs) <= 1);
    const earlier = moves.findLast((move) => move.atMs < atMs - 1);
    return [earlier, ...around].some((move) => holderOf(move?.after.owner) === holder);
  }

  /** The first time in a span at which the shard was set free or taken from the process, and by which slot. */
  lossOf(shard: number, holder: string, { fromMs, toMs }: { fromMs: number; toMs: number }): Change | null {
    const isLoss = ({ atMs, before }: Change) => atMs >= fromMs && atMs <= toMs && holderOf(before.owner) === holder;
    return this.#movesOf(shard).find(isLoss) ?? null;
  }

  #movesOf(shard: number): Change[] {
    return this.#moves.get(shard) ?? [];
  }
}

/** The process of an owner's id: one that joined anew has a number after a dot. */
function holderOf(owner: string | null | undefined): string | null {
  return owner?.split('.')[0] ?? null;
}
