import type { Database } from '../db/sql.ts';
import type { ClaimedJob } from './job.ts';
import { claimDueJob, findAccountsInTurn, lanesWithDueJobs } from './queue-store.ts';

// How many accounts of a lane are tried when other workers take the same turns at the same moment.
const CANDIDATES_PER_LANE = 8;

/** Claims the job whose turn it is: accounts start jobs one after the other, however many each has waiting. */
export async function claimNextJob(db: Database, leaseMs: number): Promise<ClaimedJob | null> {
  const lanes = await lanesWithDueJobs(db, null);
  const accounts = await Promise.all(lanes.map((lane) => accountsOf(db, lane)));
  for (const { lane, accountId } of accounts.flat().sort(byTurn)) {
    const job = await claimDueJob(db, { lane, accountId, leaseMs, now: null });
    if (job) return job;
  }
  return null;
}

type Candidate = { lane: number; accountId: string; lastStartedAt: Date | null };

async function accountsOf(db: Database, lane: number): Promise<Candidate[]> {
  const rows = await findAccountsInTurn(db, { lane, now: null, limit: CANDIDATES_PER_LANE });
  return rows.map((row) => ({ lane, ...row }));
}

/** Who never had a turn comes first, then who waits longest. */
function byTurn(left: Candidate, right: Candidate): number {
  return (left.lastStartedAt?.getTime() ?? 0) - (right.lastStartedAt?.getTime() ?? 0);
}
