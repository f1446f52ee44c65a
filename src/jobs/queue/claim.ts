import type { Database } from '../../db/database.ts';
import { PLANS, type Plan } from '../../rules/accounts/plan.ts';
import { BOUNDS } from '../../rules/bounds.ts';
import { nextJobs } from '../../rules/jobs/next-jobs.ts';
import type { ClaimedJob } from '../job.ts';
import type { Holder } from './lease-store.ts';
import { claimJobs, MAX_HEAD, readQueueHead } from './queue-store.ts';

type ClaimOptions = { db: Database; holder?: Holder; leaseMs?: number; plans?: readonly Plan[] };

/**
 * Claims the jobs that start next, for at most `places` free places, in two statements.
 *
 * The first reads the head of the queue: the jobs that were started before and returned to it, and the accounts with
 * waiting jobs in the order of their last start, each with its oldest jobs. It locks nothing. `nextJobs` chooses: the
 * returned jobs, then one job of each account in turn. The second statement starts those of them that are still queued.
 * Of two workers that choose the same job, one waits for the commit of the other and does not get the job. A claim that
 * runs more than 3 s after its read starts nothing, because its worker has given it up by then. There is one read for
 * all places that are free, and no job is held that has no place. Jobs of plans that are not named stay in the queue.
 *
 * @returns the claimed jobs in this order, and whether no further job was queued
 */
export async function claimNextJobs(
  { db, holder = null, leaseMs = BOUNDS.leaseMs, plans = PLANS }: ClaimOptions,
  places: number,
): Promise<{ claimed: ClaimedJob[]; isDrained: boolean }> {
  if (plans.length === 0) return { claimed: [], isDrained: true };
  const limit = Math.min(places, MAX_HEAD);
  const head = await readQueueHead(db, limit, plans.length === PLANS.length ? null : plans);
  if (head === null) return { claimed: [], isDrained: true };
  const chosen = nextJobs(head, limit);
  const claim = { jobs: chosen, holder, leaseMs, moment: head.moment, validMs: BOUNDS.claimValidMs };
  const started = await claimJobs(db, claim);
  const claimed = chosen.flatMap(({ id }) => started.find((job) => job.id === id) ?? []);
  return { claimed, isDrained: chosen.length < limit && claimed.length === chosen.length };
}
