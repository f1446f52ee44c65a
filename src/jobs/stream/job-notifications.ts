import type { Database } from '../../db/database.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { JobName } from '../store.ts';
import type { JobPulse } from './notification-store.ts';
import { findPulses } from './notification-store.ts';

/** Tells when something about a job changed, whichever process changed it. */
export type JobFeed = {
  /** Null when as many are watched as may be. */
  watch(job: JobName & { accountId: string }): JobWatch | null;
  /** Ends every watch. */
  close(): Promise<void>;
};

export type JobWatch = Disposable & {
  /** Resolves at the next change after this call, or at the close. Call it before looking, or a change is missed. */
  next(): Promise<void>;
  isClosed(): boolean;
};

// NOTIFY tells of most changes at once; the poll of those without one, and of notifications that were lost.
const POLL_MS = 1_000;
// A place in the queue changes without the job's row.
const POLLS_PER_QUEUE_LOOK = 3;
const MAX_WATCHES = 1_000;
const MAX_WATCHES_PER_ACCOUNT = 100;

type Watcher = { job: JobName; accountId: string; lastPulse: string; tell: () => void };

/** One listener and one poll for all who watch in this process, however many they are. */
export async function openJobFeed({ db, clock, log }: { db: Database; clock: Clock; log: Log }): Promise<JobFeed> {
  const watchers = new Set<Watcher>();
  const closing = new AbortController();
  const stopListening = await db.listen('job_changed', (id) => {
    for (const watcher of watchers) if (watcher.job.id === id) watcher.tell();
  });
  const polling = poll();

  async function poll(): Promise<void> {
    for (let polls = 1; !closing.signal.aborted; polls++) {
      await clock.sleep(POLL_MS, closing.signal);
      if (watchers.size === 0 || closing.signal.aborted) continue;
      const asked = [...watchers];
      try {
        const pulses = await findPulses(
          db,
          asked.map(({ job }) => job),
        );
        tellChanged(asked, new Map(pulses.map((pulse) => [pulse.id, pulse])), polls);
      } catch (error) {
        log.warn({ err: error }, 'could not look at the jobs that are watched');
      }
    }
  }

  return {
    watch({ accountId, ...job }) {
      const ofAccount = [...watchers].filter((watcher) => watcher.accountId === accountId).length;
      if (watchers.size >= MAX_WATCHES || ofAccount >= MAX_WATCHES_PER_ACCOUNT) return null;
      const watcher: Watcher = { job, accountId, lastPulse: '', tell: () => undefined };
      watchers.add(watcher);
      return {
        next() {
          if (closing.signal.aborted) return Promise.resolve();
          return new Promise((resolve) => {
            watcher.tell = resolve;
          });
        },
        isClosed: () => closing.signal.aborted,
        [Symbol.dispose]: () => void watchers.delete(watcher),
      };
    },
    async close() {
      closing.abort();
      for (const { tell } of watchers) tell();
      await Promise.all([stopListening(), polling]);
    },
  };
}

function tellChanged(watchers: Watcher[], pulses: Map<string, JobPulse>, polls: number): void {
  for (const watcher of watchers) {
    const pulse = pulses.get(watcher.job.id);
    const now = pulse ? `${pulse.state} ${pulse.lease} ${pulse.progress}` : 'gone';
    const isQueueLook = pulse?.state === 'queued' && polls % POLLS_PER_QUEUE_LOOK === 0;
    if (now !== watcher.lastPulse || isQueueLook) watcher.tell();
    watcher.lastPulse = now;
  }
}
