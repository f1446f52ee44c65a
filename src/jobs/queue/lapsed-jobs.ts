import type { Database } from '../../db/database.ts';
import type { Runtime } from '../../db/runtime.ts';
import { RowPass } from '../../db/statements/row-pass.ts';
import { BOUNDS } from '../../rules/bounds.ts';
import { findLapsedJobs, returnLapsedJobs } from './lease-store.ts';

const EVERY_MS = 1_000;

/**
 * Returns jobs whose holders died to the queue, every second until the signal aborts. The lease of a live process ends
 * only when it cannot be renewed.
 */
export async function returnLapsedUntil(signal: AbortSignal, { db, clock, log }: Runtime): Promise<void> {
  while (!signal.aborted) {
    let waitMs = EVERY_MS;
    try {
      const ids = await returnLapsed(db);
      if (ids.length > 0) log.warn({ job_ids: ids }, 'leases ended: the jobs are back in the queue');
    } catch (err) {
      log.warn({ err }, 'could not return jobs whose leases ended');
      // Holders renew their leases first.
      waitMs = BOUNDS.returnPauseMs;
    }
    await clock.sleep(waitMs, signal);
  }
}

/** Returns jobs whose lease has ended to the queue, and gives their ids. One statement while there are none. */
async function returnLapsed(db: Database): Promise<string[]> {
  const returned: string[] = [];
  const pass = new RowPass();
  await pass.each(
    Map.groupBy(await findLapsedJobs(db), (job) => job.shard),
    async ([shard, jobs]) => {
      const ids = jobs.map(({ id }) => id);
      returned.push(
        ...(await returnLapsedJobs(db, { shard, ids, moment: jobs[0]!.moment, validMs: BOUNDS.claimValidMs })),
      );
    },
  );
  pass.end();
  return returned;
}
