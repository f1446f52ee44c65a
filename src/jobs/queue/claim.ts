import type { Database } from '../../db/database.ts';
import { nextJobs } from '../../rules/jobs/next-jobs.ts';
import type { ClaimedJob } from '../job.ts';
import type { Holder } from './lease-store.ts';
import { claimJobs, MAX_HEAD, readQueueHead } from './queue-store.ts';

// Shorter than the statement timeout: a claim that runs after the worker gave up would start a job that no worker has.
const CLAIM_VALID_MS = 3_000;

/**
 * Claims jobs for at most `places` free places, in two statements: first the jobs that were started before and returned to
 * the queue; then the accounts in turn, one job each, however many each has waiting.
 * `isDrained`: no further job was queued. Otherwise another claim may find jobs.
 */
export async function claimNextJobs(
  db: Database,
  { places, leaseMs, holder = null }: { places: number; leaseMs: number; holder?: Holder },
): Promise<{ jobs: ClaimedJob[]; isDrained: boolean }> {
  const limit = Math.min(places, MAX_HEAD);
  const head = await readQueueHead(db, limit);
  if (head === null) return { jobs: [], isDrained: true };
  const chosen = nextJobs(head, limit);
  const { moment } = head;
  const jobs = await claimJobs(db, { jobs: chosen, holder, leaseMs, moment, validMs: CLAIM_VALID_MS });
  return { jobs, isDrained: chosen.length < limit };
}
