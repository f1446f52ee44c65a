import type { Database } from '../db/sql.ts';
import type { Log } from '../log.ts';
import type { Clock } from '../runtime/clock.ts';
import type { ClaimedJob } from './job.ts';
import { renewLease } from './queue-store.ts';

/** A worker that dies gives its jobs up after so long. Three heartbeats may be missed before. */
export const LEASE_MS = 60_000;
const HEARTBEAT_MS = 15_000;

/** Another worker holds the job now: what this one finds out no longer counts. */
export class LeaseLostError extends Error {
  constructor(jobId: string) {
    super(`the lease of ${jobId} was lost`);
    this.name = 'LeaseLostError';
  }
}

/**
 * Renews a job's lease and shows its progress until disposed. A database that is away is no loss: nobody else can take
 * the job then either, and the end is fenced.
 * @param onLost  called at most once, when somebody else has the job
 */
export function keepLease(
  job: ClaimedJob,
  deps: { db: Database; clock: Clock; log: Log },
  { progress, onLost }: { progress: () => number; onLost: (cause: LeaseLostError) => void },
): AsyncDisposable {
  const done = new AbortController();
  const beating = beat();

  async function beat(): Promise<void> {
    while (!done.signal.aborted) {
      await deps.clock.sleep(HEARTBEAT_MS, done.signal);
      if (done.signal.aborted) return;
      try {
        const isHeld = await renewLease(deps.db, job, { leaseMs: LEASE_MS, progress: progress(), now: null });
        if (!isHeld) return onLost(new LeaseLostError(job.id));
      } catch (cause) {
        deps.log.warn({ job_id: job.id, err: cause }, 'could not renew a lease');
      }
    }
  }

  return {
    async [Symbol.asyncDispose]() {
      done.abort();
      await beating;
    },
  };
}
