import type { Database } from '../../db/database.ts';
import type { Log } from '../../platform/log.ts';
import type { Caller } from '../account.ts';
import { findCallerByKeyHash, noteKeyUse } from './key-store.ts';

/** Finds out who calls, and writes when each key was last used. @returns null for a key that opens nothing */
export function openCallers(db: Database, log: Log): (keyHash: Buffer) => Promise<Caller | null> {
  // Of many requests at once with one key, one writes.
  const noting = new Set<string>();

  async function noteUse({ account, key }: Caller): Promise<void> {
    if (noting.has(key.id)) return;
    noting.add(key.id);
    try {
      await noteKeyUse(db, { shard: account.shard, id: key.id });
    } catch (error) {
      // The next request tries again; this one is not to fail for it.
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
