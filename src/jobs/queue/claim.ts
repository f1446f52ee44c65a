import type { Database } from '../../db/database.ts';
import type { ClaimedJob } from '../job.ts';
import type { Holder } from './lease-store.ts';
import { claimQueuedJob, findCandidates } from './queue-store.ts';

// How many are tried when other workers take the same turns at the same moment.
const CANDIDATES = 8;
// Shorter than the wait for an answer: a claim that is run when nobody waits for it any more would start a job nowhere.
const CLAIM_VALID_MS = 3_000;

/**
 * Claims the job whose turn it is, in at most nine statements: first jobs that were under way before and came back to the
 * queue; then accounts start jobs one after the other, however many each has waiting.
 */
export async function claimNextJob(db: Database, leaseMs: number, holder: Holder = null): Promise<ClaimedJob | null> {
  const { moment, candidates } = await findCandidates(db, CANDIDATES);
  for (const candidate of candidates.slice(0, CANDIDATES)) {
    const job = await claimQueuedJob(db, { ...candidate, holder, leaseMs, moment, validMs: CLAIM_VALID_MS });
    if (job) return job;
  }
  return null;
}
