import type { Database } from '../../db/database.ts';
import { ApiError } from '../../http/api-error.ts';
import type { Clock } from '../../platform/clock.ts';
import { countQueuedJobs } from '../store.ts';
import { readAtMostEvery } from './read-at-most-every.ts';

// A count of a full queue reads 100,000 index entries: cheap once a second, but not for each request.
const COUNT_EVERY_MS = 1_000;
const RETRY_AFTER_SECONDS = 30;

export type QueueAdmission = {
  /** @throws ApiError  503 while MAX_QUEUED_JOBS are queued; the jobs of one second may exceed the limit */
  admit(): Promise<void>;
};

/** Rejects new jobs while too many are queued. The count is at most a second old. */
export function openQueueAdmission({
  db,
  clock,
  config,
}: {
  db: Database;
  clock: Clock;
  config: { maxQueuedJobs: number };
}): QueueAdmission {
  const count = readAtMostEvery(clock, COUNT_EVERY_MS, () => countQueuedJobs(db, config.maxQueuedJobs));
  return {
    async admit() {
      if ((await count()) < config.maxQueuedJobs) return;
      throw new ApiError('unavailable', 'Too many jobs are waiting. Try again later.', {
        headers: { 'retry-after': String(RETRY_AFTER_SECONDS) },
        extra: { retry_after: RETRY_AFTER_SECONDS },
      });
    },
  };
}
