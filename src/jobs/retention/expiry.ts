import type { StorageRuntime } from '../../audio/storage/storage.ts';
import { RowPass } from '../../db/statements/row-pass.ts';
import { findJobsWithDeliveries } from '../../webhooks/deliveries/drop-store.ts';
import { eraseJob } from './erase-job.ts';
import { type ExpiredJob, findExpiredJobs, lockExpiredJob } from './retention-store.ts';

const PAGE = 500;
// Requests that wait for the job, and its streams, read it within a second of its end.
const MIN_AGE_MS = 60_000;
// All attempts of a delivery take little more than half an hour. A delivery that waits for longer, because its secret
// cannot be decrypted or its webhook has many others, does not keep the job.
const OVERDUE_MS = 24 * 3_600_000;

/**
 * Erases the jobs of a shard whose time is over (`delete_after_seconds`), as DELETE does. A job with a delivery that
 * waits is left for later. After a crash, the next sweep erases the rest. Returns how many were erased.
 */
export async function eraseExpiredJobs(
  runtime: StorageRuntime,
  { shard, signal, now = null }: { shard: number; signal?: AbortSignal; now?: Date | null },
): Promise<number> {
  const pass = new RowPass();
  let erased = 0;
  let page: ExpiredJob[] = [];
  do {
    const limits = { minAgeMs: MIN_AGE_MS, overdueMs: OVERDUE_MS, limit: PAGE };
    page = await findExpiredJobs(runtime.db, { shard, ...limits, after: page.at(-1) ?? null, now });
    const waiting = await findJobsWithDeliveries(runtime.db, { shard, jobIds: page.map(({ id }) => id) });
    const due = page.filter(({ id, isOverdue }) => isOverdue || !waiting.has(id));
    await pass.each(
      due,
      async ({ id }) => {
        if (await eraseExpired(runtime, { shard, id })) erased += 1;
      },
      { signal },
    );
  } while (page.length === PAGE && !signal?.aborted);
  pass.end();
  return erased;
}

async function eraseExpired({ db, storage }: StorageRuntime, key: { shard: number; id: string }): Promise<boolean> {
  const erased = await db.transaction(async (tx) => {
    const job = await lockExpiredJob(tx, key);
    if (job !== null) await eraseJob(tx, job);
    return job;
  });
  if (erased?.audioKey) await storage.remove(erased.audioKey).catch(() => undefined);
  return erased !== null;
}
