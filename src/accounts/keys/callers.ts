import type { Database } from '../../db/database.ts';
import type { Log } from '../../platform/log.ts';
import type { Caller } from '../account.ts';
import { findCallerByKeyHash, noteKeyUse } from './key-store.ts';

/** Finds the caller of a key and stores when the key was last used. The function returns null for an unknown key. */
export function openCallers(db: Database, log: Log): (keyHash: Buffer) => Promise<Caller | null> {
  // Ids of keys whose use is being stored: one of several concurrent requests writes.
  const noting = new Set<string>();

  async function noteUse({ account, key }: Caller): Promise<void> {
    if (noting.has(key.id)) return;
    noting.add(key.id);
    try {
      await noteKeyUse(db, { shard: account.shard, id: key.id });
    } catch (error) {
      // The request does not fail because of this; the next one tries again.
      log.warn({ err: error }, 'could not note the use of a key');
    } finally {
      noting.delete(key.id);
    }
  }

  return async (keyHash) => {
    const found = await findCallerByKeyHash(db, keyHash);
    if (!found) return null;
    const { isUseNoted, ...caller } = found;
    if (!isUseNoted) await noteUse(caller);
    return caller;
  };
}
