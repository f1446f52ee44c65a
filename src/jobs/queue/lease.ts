import type { Database } from '../../db/database.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { ClaimedJob } from '../job.ts';
import type { Claim } from './lease-store.ts';
import { renewLeases } from './lease-store.ts';

/**
 * A node that dies gives its jobs up after so long. A database that stands still for 8 s must not end a lease: it was last
 * renewed up to 2 s before, and the next renewal waits for the database when that goes on.
 */
export const LEASE_MS = 12_000;
const RENEW_EVERY_MS = 2_000;
// After a failure, so that a renewal waits whenever the database comes back.
const RENEW_AGAIN_MS = 250;

/** Another worker holds the job now: what this one finds out no longer counts. */
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

/** Renews the leases of all jobs of this process in one statement, and stores their progress. */
export type Leases = AsyncDisposable & {
  /** Keeps a claimed job's lease until disposed. */
  hold(job: ClaimedJob, options: Omit<Held, 'job'>): Disposable;
};

/**
 * A database that is away is no loss: nobody else can take a job then either, and whoever comes back to it first renews
 * before anybody takes over (see sweep in worker.ts). What still goes wrong is fenced by the lease's number.
 */
export function openLeases({ db, clock, log }: { db: Database; clock: Clock; log: Log }): Leases {
  const held = new Map<string, Held>();
  const done = new AbortController();
  const renewing = renewUntilDone();

  async function renewUntilDone(): Promise<void> {
    let waitMs = RENEW_EVERY_MS;
    while (!done.signal.aborted) {
      await clock.sleep(waitMs, done.signal);
      if (done.signal.aborted) return;
      waitMs = await renewAll().then(
        () => RENEW_EVERY_MS,
        (cause: unknown) => {
          log.warn({ jobs: held.size, err: cause }, 'could not renew leases');
          return RENEW_AGAIN_MS;
        },
      );
    }
  }

  async function renewAll(): Promise<void> {
    const asked = [...held.values()];
    if (asked.length === 0) return;
    const claims = asked.map(({ job: { shard, id, lease }, progress }) => ({ shard, id, lease, progress: progress() }));
    const kept = new Set(await renewLeases(db, claims, { leaseMs: LEASE_MS, now: null }));
    for (const entry of asked) if (!kept.has(entry.job.id)) lose(entry);
  }

  function lose(entry: Held): void {
    if (held.get(entry.job.id) !== entry) return;
    held.delete(entry.job.id);
    entry.onLost(new LeaseLostError(entry.job.id));
  }

  return {
    hold(job, options) {
      const before = held.get(job.id);
      // It was taken from us, and came back, before a renewal told.
      if (before) lose(before);
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
