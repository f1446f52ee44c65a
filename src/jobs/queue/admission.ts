import type { Database } from '../../db/database.ts';
import { ApiError } from '../../http/api-error.ts';
import type { Clock } from '../../platform/clock.ts';
import { countQueuedJobs } from '../store.ts';

// A count of a full queue reads 100,000 index entries: once a second is cheap, once a request is not.
const COUNT_EVERY_MS = 1_000;
const RETRY_AFTER_SECONDS = 30;

export type QueueAdmission = {
  /** @throws ApiError  503 while MAX_QUEUED_JOBS wait; the limit may be passed by what one second brings */
  admit(): Promise<void>;
};

/** Knows about how many jobs wait, and refuses more when there are too many. */
export function openQueueAdmission({
  db,
  clock,
  config,
}: {
  db: Database;
  clock: Clock;
  config: { maxQueuedJobs: number };
}): QueueAdmission {
  let countedAtMs = Number.NEGATIVE_INFINITY;
  let counting: Promise<number> = Promise.resolve(0);
  return {
    async admit() {
      if (clock.now() - countedAtMs >= COUNT_EVERY_MS) {
        countedAtMs = clock.now();
        counting = countQueuedJobs(db, config.maxQueuedJobs);
        counting.catch(() => {
          countedAtMs = Number.NEGATIVE_INFINITY;
        });
      }
      if ((await counting) < config.maxQueuedJobs) return;
      throw new ApiError('unavailable', 'Too many jobs are waiting. Try again later.', {
        headers: { 'retry-after': String(RETRY_AFTER_SECONDS) },
        extra: { retry_after: RETRY_AFTER_SECONDS },
      });
    },
  };
}
