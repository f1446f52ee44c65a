import { listenAndPoll } from '../../db/listen-and-poll.ts';
import type { Runtime } from '../../db/runtime.ts';
import type { JobKey } from '../store.ts';
import { findJobSnapshots, type JobSnapshot } from './notification-store.ts';

/** Reports changes of jobs, whichever process changes them. */
export type JobNotifications = {
  /** Null when this process, or the account in it, has as many subscriptions as it may have. */
  subscribe(job: JobKey & { accountId: string }): JobSubscription | null;
  /** Ends every subscription. */
  close(): Promise<void>;
};

export type JobSubscription = Disposable & {
  /**
   * Resolves at the next change after this call, or at the close.
   * Call it before reading the job, or a change is missed.
   */
  next(): Promise<void>;
  isClosed(): boolean;
};

// NOTIFY reports most changes at once. The poll finds those without a NOTIFY, and those whose notification was lost.
const POLL_MS = 1_000;
// The place of a job in the queue changes without its row.
const POLLS_PER_QUEUE_CHANGE = 3;
/** Jobs that are followed at once, in this process and of one account. */
export const MAX_SUBSCRIPTIONS = 1_000;
export const MAX_SUBSCRIPTIONS_PER_ACCOUNT = 100;

type Subscriber = { job: JobKey; accountId: string; lastSeen: string; notify: () => void };

/** Uses one listener and one poll in a process, however many subscriptions there are. */
export async function openJobNotifications({ db, clock, log }: Runtime): Promise<JobNotifications> {
  const subscribers = new Set<Subscriber>();
  let isClosed = false;
  let polls = 0;

  async function poll(): Promise<void> {
    polls += 1;
    if (subscribers.size === 0) return;
    const polled = [...subscribers];
    const jobs = polled.map(({ job }) => job);
    const snapshots = new Map((await findJobSnapshots(db, jobs)).map((snapshot) => [snapshot.id, snapshot]));
    notifyChanged(polled, snapshots, polls % POLLS_PER_QUEUE_CHANGE === 0);
  }

  const listening = await listenAndPoll(
    { db, clock },
    {
      name: 'job_changed',
      onNotify: (id) => {
        for (const subscriber of subscribers) if (subscriber.job.id === id) subscriber.notify();
      },
      poll,
      everyMs: POLL_MS,
      onError: (err) => log.warn({ err }, 'could not poll for changes of jobs'),
    },
  );

  return {
    subscribe({ accountId, ...job }) {
      const ofAccount = [...subscribers].filter((subscriber) => subscriber.accountId === accountId).length;
      if (subscribers.size >= MAX_SUBSCRIPTIONS || ofAccount >= MAX_SUBSCRIPTIONS_PER_ACCOUNT) return null;
      const subscriber: Subscriber = { job, accountId, lastSeen: '', notify: () => undefined };
      subscribers.add(subscriber);
      return {
        next() {
          if (isClosed) return Promise.resolve();
          return new Promise((resolve) => {
            subscriber.notify = resolve;
          });
        },
        isClosed: () => isClosed,
        [Symbol.dispose]: () => void subscribers.delete(subscriber),
      };
    },
    async close() {
      isClosed = true;
      for (const { notify } of subscribers) notify();
      await listening.close();
    },
  };
}

function notifyChanged(subscribers: Subscriber[], snapshots: Map<string, JobSnapshot>, queueChanged: boolean): void {
  for (const subscriber of subscribers) {
    const snapshot = snapshots.get(subscriber.job.id);
    const seen = snapshot ? `${snapshot.state} ${snapshot.lease} ${snapshot.progress}` : 'deleted';
    if (seen !== subscriber.lastSeen || (queueChanged && snapshot?.state === 'queued')) subscriber.notify();
    subscriber.lastSeen = seen;
  }
}
