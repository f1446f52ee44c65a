import type { Database } from '../../db/database.ts';
import { listenAndPoll } from '../../db/listen-and-poll.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { JobKey } from '../store.ts';
import { findEnded } from '../store.ts';

/** Reports the end of jobs, whichever process ends them. */
export type CompletionWaiter = {
  /** Subscribe before the job is committed, or its end may be missed until the next poll. */
  subscribe(job: JobKey): { ended: Promise<void> } & Disposable;
  /** Resolves every `ended`, although the jobs have not ended: the callers read their jobs again. */
  close(): Promise<void>;
};

// Only for notifications that were lost with their connection.
const POLL_MS = 1_000;

/** Uses one listener and one poll in a process, however many jobs are waited for. */
export async function openCompletionWaiter({
  db,
  clock,
  log,
}: {
  db: Database;
  clock: Clock;
  log: Log;
}): Promise<CompletionWaiter> {
  const subscriptions = new Map<string, { job: JobKey; resolvers: Set<() => void> }>();
  let isClosed = false;

  function resolve(id: string): void {
    for (const resolver of subscriptions.get(id)?.resolvers ?? []) resolver();
  }

  async function poll(): Promise<void> {
    if (subscriptions.size === 0) return;
    const jobs = [...subscriptions.values()].map(({ job }) => job);
    for (const id of await findEnded(db, jobs)) resolve(id);
  }

  const listening = await listenAndPoll(
    { db, clock },
    {
      name: 'job_ended',
      onNotify: resolve,
      poll,
      everyMs: POLL_MS,
      onError: (err) => log.warn({ err }, 'could not poll for jobs that ended'),
    },
  );

  return {
    subscribe(job) {
      const ended = Promise.withResolvers<void>();
      const { resolvers } = subscriptions.get(job.id) ?? { resolvers: new Set() };
      subscriptions.set(job.id, { job, resolvers: resolvers.add(ended.resolve) });
      if (isClosed) ended.resolve();
      return {
        ended: ended.promise,
        [Symbol.dispose]() {
          resolvers.delete(ended.resolve);
          if (resolvers.size === 0) subscriptions.delete(job.id);
        },
      };
    },
    async close() {
      isClosed = true;
      for (const id of subscriptions.keys()) resolve(id);
      await listening.close();
    },
  };
}
