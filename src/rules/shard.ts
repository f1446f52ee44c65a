/** Shards spread the rows of all accounts over this many shards. A change needs every row to be rewritten. */
export const SHARD_COUNT = 64;

/** Names the account whose rows are meant: its shard leads their primary keys. */
export type AccountRef = { shard: number; accountId: string };

/**
 * The shard of an account, 0 to 63: FNV-1a of its id. It leads the primary key of every hot table, so that each hot
 * statement touches one shard when the tables are distributed.
 */
export function shardOf(accountId: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < accountId.length; i++) {
    hash = Math.imul(hash ^ accountId.charCodeAt(i), 0x01000193) >>> 0;
  }
  return hash % SHARD_COUNT;
}
