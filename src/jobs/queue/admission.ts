import type { Database } from '../../db/database.ts';
import { unavailable } from '../../http/api-error.ts';
import type { Clock } from '../../platform/clock.ts';
import { readAtMostEvery } from '../../platform/read-at-most-every.ts';
import { countFetches, countWaitingJobs } from './backlog-store.ts';

// The count reads a row per account with waiting jobs: cheap once a second, but not for each request.
const COUNT_EVERY_MS = 1_000;
const RETRY_AFTER_SECONDS = 30;

export type QueueAdmission = {
  /** @throws ApiError  503 while MAX_QUEUED_JOBS are queued; the jobs of one second may exceed the limit */
  admit(): Promise<void>;
};

/**
 * Rejects new jobs while too many are queued, those whose audio is being fetched included.
 * The count is at most a second old.
 */
export function openQueueAdmission({
  db,
  clock,
  config,
}: {
  db: Database;
  clock: Clock;
  config: { maxQueuedJobs: number };
}): QueueAdmission {
  const count = readAtMostEvery(clock, COUNT_EVERY_MS, async () => {
    const [waiting, fetched] = await Promise.all([countWaitingJobs(db), countFetches(db)]);
    return waiting + fetched;
  });
  return {
    async admit() {
      if ((await count()) < config.maxQueuedJobs) return;
      const extra = { retry_after: RETRY_AFTER_SECONDS };
      throw unavailable('Too many jobs are waiting. Try again later.', RETRY_AFTER_SECONDS, { extra });
    },
  };
}
