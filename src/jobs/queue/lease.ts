import type { Database } from '../../db/database.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import { BOUNDS } from '../../rules/bounds.ts';
import type { ClaimedJob } from '../job.ts';
import type { Claim } from './lease-store.ts';
import { findLapsedJobs, renewLeases, returnLapsedJobs } from './lease-store.ts';

/** The job is no longer held under this claim: writes under it are rejected. */
export class LeaseLostError extends Error {
  constructor(jobId: string) {
    super(`the lease of ${jobId} was lost`);
    this.name = 'LeaseLostError';
  }
}

type Held = {
  job: Claim;
  progress: () => number;
  /** Called at most once, when the job is no longer held under this claim. */
  onLost: (cause: LeaseLostError) => void;
};

/** Renews the leases of all jobs of this process, and stores the jobs' progress. */
export type Leases = AsyncDisposable & {
  /** Renews a claimed job's lease until disposed. */
  hold(job: ClaimedJob, options: Omit<Held, 'job'>): Disposable;
};

/**
 * A lease is not lost while the database is away: no other worker can claim the job then, and holders renew their leases
 * before the first sweep (see SWEEPS_SKIPPED_AFTER_FAILURE in worker.ts). The lease's number rejects any late write.
 */
export function openLeases({ db, clock, log }: { db: Database; clock: Clock; log: Log }): Leases {
  const held = new Map<string, Held>();
  const done = new AbortController();
  const renewing = renewUntilDone();

  async function renewUntilDone(): Promise<void> {
    let waitMs = BOUNDS.renewEveryMs;
    while (!done.signal.aborted) {
      await clock.sleep(waitMs, done.signal);
      if (done.signal.aborted) return;
      waitMs = await renewAll().then(
        () => BOUNDS.renewEveryMs,
        (cause: unknown) => {
          log.warn({ jobs: held.size, err: cause }, 'could not renew leases');
          return BOUNDS.renewAgainMs;
        },
      );
    }
  }

  async function renewAll(): Promise<void> {
    const entries = [...held.values()];
    if (entries.length === 0) return;
    const claims = entries.map(({ job: { shard, id, lease }, progress }) => ({
      shard,
      id,
      lease,
      progress: progress(),
    }));
    const kept = new Set<string>();
    // By shard: a sharded database locks rows of one shard only in a statement.
    for (const [shard, ofShard] of Map.groupBy(claims, (claim) => claim.shard)) {
      for (const id of await renewLeases(db, ofShard, { shard, leaseMs: BOUNDS.leaseMs, now: null })) kept.add(id);
    }
    for (const entry of entries) if (!kept.has(entry.job.id)) lose(entry);
  }

  function lose(entry: Held): void {
    if (held.get(entry.job.id) !== entry) return;
    held.delete(entry.job.id);
    entry.onLost(new LeaseLostError(entry.job.id));
  }

  return {
    hold(job, options) {
      // The job was claimed elsewhere and then here again, before a renewal found that.
      const earlier = held.get(job.id);
      if (earlier) lose(earlier);
      const entry: Held = { job, ...options };
      held.set(job.id, entry);
      return {
        [Symbol.dispose]() {
          if (held.get(job.id) === entry) held.delete(job.id);
        },
      };
    },
    async [Symbol.asyncDispose]() {
      done.abort();
      await renewing;
    },
  };
}

/** Returns jobs whose lease has ended to the queue, and gives their ids. One statement while there are none. */
export async function sweepLapsedJobs(db: Database, validMs: number = BOUNDS.claimValidMs): Promise<string[]> {
  const returned: string[] = [];
  for (const [shard, jobs] of Map.groupBy(await findLapsedJobs(db), (job) => job.shard)) {
    const ids = jobs.map(({ id }) => id);
    returned.push(...(await returnLapsedJobs(db, { shard, ids, moment: jobs[0]!.moment, validMs })));
  }
  return returned;
}
