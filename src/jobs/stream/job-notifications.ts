import type { Database } from '../../db/database.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { JobKey } from '../store.ts';
import type { JobSnapshot } from './notification-store.ts';
import { findJobSnapshots } from './notification-store.ts';

/** Tells when something about a job changed, whichever process changed it. */
export type JobNotifications = {
  /** Null when as many are watched as may be. */
  subscribe(job: JobKey & { accountId: string }): JobSubscription | null;
  /** Ends every watch. */
  close(): Promise<void>;
};

export type JobSubscription = Disposable & {
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

type Watcher = { job: JobKey; accountId: string; lastSeen: string; tell: () => void };

/** One listener and one poll for all who watch in this process, however many they are. */
export async function openJobNotifications({
  db,
  clock,
  log,
}: {
  db: Database;
  clock: Clock;
  log: Log;
}): Promise<JobNotifications> {
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
        const snapshots = await findJobSnapshots(
          db,
          asked.map(({ job }) => job),
        );
        tellChanged(asked, new Map(snapshots.map((snapshot) => [snapshot.id, snapshot])), polls);
      } catch (error) {
        log.warn({ err: error }, 'could not look at the jobs that are watched');
      }
    }
  }

  return {
    subscribe({ accountId, ...job }) {
      const ofAccount = [...watchers].filter((watcher) => watcher.accountId === accountId).length;
      if (watchers.size >= MAX_WATCHES || ofAccount >= MAX_WATCHES_PER_ACCOUNT) return null;
      const watcher: Watcher = { job, accountId, lastSeen: '', tell: () => undefined };
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

function tellChanged(watchers: Watcher[], snapshots: Map<string, JobSnapshot>, polls: number): void {
  for (const watcher of watchers) {
    const snapshot = snapshots.get(watcher.job.id);
    const now = snapshot ? `${snapshot.state} ${snapshot.lease} ${snapshot.progress}` : 'gone';
    const isQueueLook = snapshot?.state === 'queued' && polls % POLLS_PER_QUEUE_LOOK === 0;
    if (now !== watcher.lastSeen || isQueueLook) watcher.tell();
    watcher.lastSeen = now;
  }
}
