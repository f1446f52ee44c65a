import type { Database } from '../../db/database.ts';
import type { ClaimedJob } from '../job.ts';
import type { Holder } from './lease-store.ts';
import { claimQueuedJob, findCandidates } from './queue-store.ts';

// Tried one after the other while other workers claim the same candidates.
const CANDIDATES = 8;
// Shorter than the statement timeout: a claim that runs after the worker gave up would start a job that no worker has.
const CLAIM_VALID_MS = 3_000;

/**
 * Claims the next job, in at most nine statements: first the jobs that were started before and returned to the queue; then
 * the accounts in turn, one job each, however many each has queued. Null when no job is due.
 */
export async function claimNextJob(db: Database, leaseMs: number, holder: Holder = null): Promise<ClaimedJob | null> {
  const { moment, candidates } = await findCandidates(db, CANDIDATES);
  for (const candidate of candidates.slice(0, CANDIDATES)) {
    const job = await claimQueuedJob(db, { ...candidate, holder, leaseMs, moment, validMs: CLAIM_VALID_MS });
    if (job) return job;
  }
  return null;
}
