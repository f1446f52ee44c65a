import type { Sql } from '../../db/database.ts';
import type { Scope } from '../../rules/accounts/scopes.ts';
import { findUnsuspended } from '../store.ts';
import { findValidKeys } from './key-store.ts';
import { findValidSessions } from './session-store.ts';

/**
 * Those keys that are neither revoked nor expired, of accounts that are not suspended, by sessions that have not ended.
 * @param scope  that the keys must have; null: any. The scopes of a user change with the role.
 */
export async function findUsableKeys<
  Key extends { shard: number; id: string; accountId: string; sessionId: string | null },
>(sql: Sql, keys: readonly Key[], scope: Scope | null = null): Promise<Key[]> {
  const owners = keys.map(({ shard, accountId: id }) => ({ shard, id }));
  const sessions = keys.flatMap(({ shard, sessionId: id }) => (id === null ? [] : [{ shard, id }]));
  const [valid, unsuspended, current] = await Promise.all([
    findValidKeys(sql, keys, { scope }),
    findUnsuspended(sql, owners),
    sessions.length === 0 ? new Set<string>() : findValidSessions(sql, sessions),
  ]);
  return keys.filter(
    ({ id, accountId, sessionId }) =>
      valid.has(id) && unsuspended.has(accountId) && (sessionId === null || current.has(sessionId)),
  );
}
