import { listenAndPoll } from '../../db/listen-and-poll.ts';
import type { Runtime } from '../../db/runtime.ts';
import { findEnds, type JobKey } from '../store.ts';

/** Reports the end of jobs, whichever process ends them. */
export type CompletionWaiter = {
  /** Subscribe before the job is committed, or its end may be missed until the next poll. */
  subscribe(job: JobKey): { ended: Promise<void> } & Disposable;
  /** Resolves every `ended`, although the jobs have not ended: the callers read their jobs again. */
  close(): Promise<void>;
};

type Awaited = {
  job: JobKey;
  resolvers: Set<() => void>;
  /** A job that was found and is gone was deleted; one that was never found is about to be inserted. */
  wasFound: boolean;
};

// Only for notifications that were lost with their connection.
const POLL_MS = 1_000;

/** Uses one listener and one poll in a process, however many jobs are waited for. */
export async function openCompletionWaiter({ db, clock, log }: Runtime): Promise<CompletionWaiter> {
  const subscriptions = new Map<string, Awaited>();
  let isClosed = false;

  function resolve(id: string): void {
    for (const resolver of subscriptions.get(id)?.resolvers ?? []) resolver();
  }

  async function poll(): Promise<void> {
    if (subscriptions.size === 0) return;
    const polled = [...subscriptions.values()];
    const ends = await findEnds(
      db,
      polled.map(({ job }) => job),
    );
    const endOf = new Map(ends.map(({ id, hasEnded }) => [id, hasEnded]));
    for (const subscription of polled) {
      const hasEnded = endOf.get(subscription.job.id) ?? subscription.wasFound;
      if (hasEnded) resolve(subscription.job.id);
      subscription.wasFound ||= endOf.has(subscription.job.id);
    }
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
      const known = subscriptions.get(job.id) ?? { job, resolvers: new Set(), wasFound: false };
      const resolvers = known.resolvers.add(ended.resolve);
      subscriptions.set(job.id, known);
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
