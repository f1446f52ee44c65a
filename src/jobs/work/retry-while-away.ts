import { isDatabaseAway } from '../../db/database.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';

// About an hour. What cannot be written by then is left to its lease.
const RETRIES = { most: 720, delayMs: 5_000, firstDelayMs: 250 };

type Away = {
  /** What waits, such as `the end of a job`. */
  waits: string;
  jobId: string;
  /** Ends the wait between two tries. */
  signal: AbortSignal;
};

/**
 * Does the work, again and again while the database is away. The work may run twice: it
 * writes under the number of a lease. The first try is made even during a stop, because writing a result takes
 * milliseconds.
 */
export async function retryWhileAway<Result>(
  { clock, log }: { clock: Clock; log: Log },
  { waits, jobId, signal }: Away,
  work: () => Promise<Result>,
): Promise<Result> {
  for (let retry = 0; ; retry++) {
    if (retry > 0) signal.throwIfAborted();
    try {
      return await work();
    } catch (err) {
      if (!isDatabaseAway(err) || retry >= RETRIES.most) throw err;
      log.warn({ job_id: jobId, waits, err }, 'the database is away; tried again');
      await clock.sleep(retry === 0 ? RETRIES.firstDelayMs : RETRIES.delayMs, signal);
    }
  }
}
