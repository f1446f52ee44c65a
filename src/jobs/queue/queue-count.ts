import type { Database } from '../../db/database.ts';
import { SHARD_COUNT } from '../../rules/shard.ts';
import { correctCount, findWrongCounts, lockCount, type WrongCount } from './queue-count-store.ts';

/**
 * Compares the counts of waiting jobs with the jobs, corrects those that are wrong and returns them as they were found.
 * Each one is a bug. Of an account whose count is too low, jobs would wait for ever.
 */
export async function correctQueueCounts(db: Database, signal?: AbortSignal): Promise<WrongCount[]> {
  const wrong: WrongCount[] = [];
  for (let shard = 0; shard < SHARD_COUNT && !signal?.aborted; shard++) {
    for (const found of await findWrongCounts(db, shard)) {
      wrong.push(found);
      await db.transaction(async (tx) => {
        await lockCount(tx, { shard, accountId: found.accountId });
        await correctCount(tx, { shard, accountId: found.accountId });
      });
    }
  }
  return wrong;
}
