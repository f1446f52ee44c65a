import { SHARD_COUNT } from '../../rules/shard.ts';
import { RowPass } from './row-pass.ts';

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
  return await sumShards(async (shard) => {
    let deleted = 0;
    let batch = SWEEP_BATCH;
    for (; batch === SWEEP_BATCH && !signal?.aborted; deleted += batch) batch = await deleteBatch(shard);
    return deleted;
  }, signal);
}

/** The sum of what the work did in each shard. A shard whose work fails does not keep the others from theirs. */
export async function sumShards(
  work: (shard: number) => Promise<number>,
  signal: AbortSignal | undefined,
): Promise<number> {
  const pass = new RowPass();
  let sum = 0;
  const add = async (shard: number) => {
    const done = await work(shard);
    sum += done;
  };
  await pass.each(Array(SHARD_COUNT).keys(), add, { signal });
  pass.end();
  return sum;
}
