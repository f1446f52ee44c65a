import { findDeletedKey } from '../../audit/store.ts';
import type { Sql } from '../../db/database.ts';
import type { EndedKey } from '../account.ts';
import { findExpiredKey } from './caller-store.ts';

/**
 * What became of a key that has no caller; null for one that is not known. Revoked keys are known as long as the audit
 * log has the change, expired keys of links to the console until they are deleted.
 * @param hash  SHA-256 of the key
 */
export async function findEndedKey(sql: Sql, hash: Buffer): Promise<EndedKey | null> {
  const expired = await findExpiredKey(sql, hash);
  if (expired) return { kind: 'expired', ...expired };
  const revoked = await findDeletedKey(sql, hash);
  return revoked && { kind: 'revoked', ...revoked };
}
