import type { Database } from '../../db/database.ts';
import { findLapsedJobs, returnLapsedJobs } from './lease-store.ts';

// Shorter than the statement timeout: a sweep that the database runs late, after it was stopped, must change nothing.
const SWEEP_VALID_MS = 3_000;

/** Returns jobs whose lease has ended to the queue, and gives their ids. One statement while there are none. */
export async function sweepLapsedJobs(db: Database, validMs: number = SWEEP_VALID_MS): Promise<string[]> {
  const returned: string[] = [];
  for (const [shard, jobs] of Map.groupBy(await findLapsedJobs(db), (job) => job.shard)) {
    const ids = jobs.map(({ id }) => id);
    returned.push(...(await returnLapsedJobs(db, { shard, ids, moment: jobs[0]!.moment, validMs })));
  }
  return returned;
}
