import type { Runtime } from '../../db/runtime.ts';
import { readAtMostEvery } from '../../platform/read-at-most-every.ts';
import { type Queue, queuePosition } from '../../rules/jobs/queue-position.ts';
import type { Job } from '../job.ts';
import { findRank, measureQueues } from './queue-position-store.ts';

/** The position of a queued job, 1 for the next to start; null when the job is not queued. */
export type QueuePositions = { of(job: Job): Promise<number | null> };

// It reads a row per account with waiting jobs: cheap once a second, but not for each request.
const MEASURE_EVERY_MS = 1_000;

/** The other accounts' queues are read at most once a second; the job's own account's queue is read each time. */
export function openQueuePositions({ db, clock }: Runtime): QueuePositions {
  const queuesNow = readAtMostEvery(clock, MEASURE_EVERY_MS, async (): Promise<Queue[]> => {
    const queues = await measureQueues(db);
    return queues.map(({ lastStartedAt, ...queue }) => ({ ...queue, lastTurnMs: lastStartedAt?.getTime() ?? null }));
  });

  return {
    async of(job) {
      if (job.state !== 'queued') return null;
      const [found, queues] = await Promise.all([findRank(db, job), queuesNow()]);
      // A returned job has rank 0 when it was started between the two reads.
      if (found?.kind !== 'waiting') return found?.rank || null;
      return found.returnedJobs + queuePosition({ accountId: job.accountId, rank: found.rank, queues });
    },
  };
}
