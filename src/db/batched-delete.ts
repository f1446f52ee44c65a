import { SHARD_COUNT } from '../rules/shard.ts';

/** How many rows one statement of a sweep deletes at most: few enough that it holds locks for milliseconds only. */
export const SWEEP_BATCH = 500;

/**
 * Deletes shard after shard, a batch at a time, until nothing is left to delete. Returns how many went. What is left when
 * the signal aborts, or the process dies, is found by the next sweep.
 * @param deleteBatch  deletes at most `SWEEP_BATCH` rows of a shard, and tells how many
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
