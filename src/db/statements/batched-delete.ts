import { SHARD_COUNT } from '../../rules/shard.ts';

/** Most rows that one statement of a sweep deletes: few enough to hold its locks for milliseconds only. */
export const SWEEP_BATCH = 500;

/**
 * Deletes in batches, shard after shard, until nothing is left to delete. Returns the number of deleted rows. The next
 * sweep deletes what is left when the signal aborts or the process ends.
 * @param deleteBatch  deletes at most `SWEEP_BATCH` rows of a shard and returns their number
 */
export async function deleteInBatches(
  deleteBatch: (shard: number) => Promise<number>,
  signal: AbortSignal | undefined,
): Promise<number> {
  let deleted = 0;
  for (let shard = 0; shard < SHARD_COUNT; shard++) {
    for (let batch = SWEEP_BATCH; batch === SWEEP_BATCH; deleted += batch) {
      if (signal?.aborted) return deleted;
      batch = await deleteBatch(shard);
    }
  }
  return deleted;
}
