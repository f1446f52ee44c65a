import type { Database } from '../../db/database.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { JobKey } from '../store.ts';
import { findEnded } from '../store.ts';

/** Tells when jobs end, whichever process ends them. */
export type CompletionWaiter = {
  /** Begin before the job is committed, or its end may be missed until the next poll. */
  subscribe(job: JobKey): { ended: Promise<void> } & Disposable;
  /** Lets everybody who still waits go, as if the job had ended: they look, and answer that it has not. */
  close(): Promise<void>;
};

// Only for notifications that were lost with their connection.
const POLL_MS = 1_000;

/** One listener and one poll for all who wait in this process, however many they are. */
export async function openCompletionWaiter({
  db,
  clock,
  log,
}: {
  db: Database;
  clock: Clock;
  log: Log;
}): Promise<CompletionWaiter> {
  const watched = new Map<string, { job: JobKey; waiters: Set<() => void> }>();
  const closing = new AbortController();
  const stopListening = await db.listen('job_ended', tellAll);
  const polling = poll();

  function tellAll(id: string): void {
    for (const tell of watched.get(id)?.waiters ?? []) tell();
  }

  async function poll(): Promise<void> {
    while (!closing.signal.aborted) {
      await clock.sleep(POLL_MS, closing.signal);
      if (watched.size === 0 || closing.signal.aborted) continue;
      const jobs = [...watched.values()].map(({ job }) => job);
      const ended = await findEnded(db, jobs).catch((error: unknown) => {
        log.warn({ err: error }, 'could not ask which jobs ended');
        return [];
      });
      for (const id of ended) tellAll(id);
    }
  }

  return {
    subscribe(job) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const { waiters } = watched.get(job.id) ?? { waiters: new Set() };
      watched.set(job.id, { job, waiters: waiters.add(resolve) });
      if (closing.signal.aborted) resolve();
      return {
        ended: promise,
        [Symbol.dispose]() {
          waiters.delete(resolve);
          if (waiters.size === 0) watched.delete(job.id);
        },
      };
    },
    async close() {
      closing.abort();
      for (const id of watched.keys()) tellAll(id);
      await Promise.all([stopListening(), polling]);
    },
  };
}
