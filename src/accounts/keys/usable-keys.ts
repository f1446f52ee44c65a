import type { Sql } from '../../db/database.ts';
import { findUnsuspended } from '../store.ts';
import { findValidKeys } from './key-store.ts';

/** The ids of those keys that are neither revoked nor expired, of accounts that are not suspended. */
export async function findUsableKeys(
  sql: Sql,
  keys: readonly { shard: number; id: string; accountId: string }[],
): Promise<Set<string>> {
  const owners = keys.map(({ shard, accountId: id }) => ({ shard, id }));
  const [valid, unsuspended] = await Promise.all([findValidKeys(sql, keys), findUnsuspended(sql, owners)]);
  return new Set(keys.filter(({ id, accountId }) => valid.has(id) && unsuspended.has(accountId)).map(({ id }) => id));
}
