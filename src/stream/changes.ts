import { listenAndPoll } from '../db/listen-and-poll.ts';
import type { Runtime } from '../db/runtime.ts';
import { summariseJobChanges } from '../jobs/stream/change-store.ts';
import type { AccountRef } from '../rules/shard.ts';
import { summariseEvents } from '../webhooks/events/stream-store.ts';
import { summariseAttempts } from '../webhooks/log/stream-store.ts';
import { readHorizon } from './horizon-store.ts';

/** A stream's view of the changes of its account. */
export type Subscription = Disposable & {
  /** Resolves at the next change after this call, or at the close. Call it before reading, or a change is missed. */
  next(): Promise<void>;
  /** To be called when the client has taken a frame. */
  taken(): void;
  isClosed(): boolean;
};

/** Reports which accounts have new events, changed jobs or new attempts, whichever process wrote them. */
export type AccountChanges = {
  /**
   * Null when this process, or the account in it, has as many streams as it may have.
   * @param onStalled  called when the client has taken no frame for a minute
   */
  subscribe(owner: AccountRef, onStalled: () => void): Subscription | null;
  /** Ends every subscription. */
  close(): Promise<void>;
};

/** What the streams of accounts run on. @property marginMs  a margin other than the one that `BOUNDS` has */
export type StreamRuntime = Runtime & { accountChanges: AccountChanges; version: string; marginMs?: number };

// NOTIFY reports changes of jobs at once; attempts, test events and lost notifications are found by the poll.
const POLL_MS = 1_000;
// Between two reads that notifications cause.
const PAUSE_MS = 100;
const SUMMARY_MS = 60_000;
const MAX_STREAMS = 1_000;
export const MAX_STREAMS_PER_ACCOUNT = 10;
// Keep-alives come every 15 s.
const STALLED_MS = 60_000;

type Subscriber = AccountRef & { wake: () => void; onStalled: () => void; takenAtMs: number };
/** Uses one listener and three statements per poll in a process, however many streams there are. */
export async function openAccountChanges(runtime: Runtime): Promise<AccountChanges> {
  const changes = new Changes(runtime);
  await changes.open();
  return changes;
}

class Changes implements AccountChanges {
  readonly #runtime: Runtime;
  readonly #subscribers = new Set<Subscriber>();
  readonly #closing = new AbortController();
  #states = new Map<string, string>();
  #polling: Promise<void> | null = null;
  #isAskedAgain = false;
  #stopListening: () => Promise<void> = async () => undefined;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  async open(): Promise<void> {
    const { close } = await listenAndPoll(this.#runtime, {
      name: 'job_changed',
      onNotify: () => void this.#pollSoon(),
      poll: () => this.#pollSoon(),
      everyMs: POLL_MS,
      onError: (err) => this.#runtime.log.warn({ err }, 'could not poll for changes of accounts'),
    });
    this.#stopListening = close;
  }

  subscribe({ shard, accountId }: AccountRef, onStalled: () => void): Subscription | null {
    const ofAccount = [...this.#subscribers].filter((subscriber) => subscriber.accountId === accountId).length;
    if (this.#subscribers.size >= MAX_STREAMS || ofAccount >= MAX_STREAMS_PER_ACCOUNT) return null;
    const { clock } = this.#runtime;
    const subscriber = { shard, accountId, wake: () => undefined, onStalled, takenAtMs: clock.now() } as Subscriber;
    this.#subscribers.add(subscriber);
    return {
      next: () => {
        if (this.#closing.signal.aborted) return Promise.resolve();
        return new Promise((resolve) => {
          subscriber.wake = resolve;
        });
      },
      taken: () => {
        subscriber.takenAtMs = clock.now();
      },
      isClosed: () => this.#closing.signal.aborted,
      [Symbol.dispose]: () => void this.#subscribers.delete(subscriber),
    };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    for (const { wake } of this.#subscribers) wake();
    await Promise.all([this.#stopListening(), this.#polling]);
  }

  /** One poll at a time, and one more after it when a notification came meanwhile. */
  #pollSoon(): Promise<void> {
    this.#isAskedAgain = true;
    this.#polling ??= this.#pollWhileAsked().finally(() => {
      this.#polling = null;
    });
    return this.#polling;
  }

  async #pollWhileAsked(): Promise<void> {
    const { clock, log } = this.#runtime;
    while (this.#isAskedAgain && this.#subscribers.size > 0 && !this.#closing.signal.aborted) {
      this.#isAskedAgain = false;
      await this.#poll().catch((err) => log.warn({ err }, 'could not read changes of accounts'));
      await clock.sleep(PAUSE_MS, this.#closing.signal);
    }
  }

  async #poll(): Promise<void> {
    const { db, clock } = this.#runtime;
    const subscribers = [...this.#subscribers];
    const accounts = [
      ...new Map(subscribers.map(({ shard, accountId }) => [accountId, { shard, accountId }])).values(),
    ];
    const sinceMs = (await readHorizon(db)).startMs - SUMMARY_MS;
    const summaries = await Promise.all(
      [summariseEvents, summariseJobChanges, summariseAttempts].map((summarise) => summarise(db, accounts, sinceMs)),
    );
    const states = new Map<string, string>();
    for (const [kind, rows] of summaries.entries()) {
      for (const { accountId, state } of rows) {
        states.set(accountId, `${states.get(accountId) ?? ''} ${kind}: ${state}`);
      }
    }
    const before = this.#states;
    this.#states = states;
    for (const subscriber of subscribers) {
      const { accountId, takenAtMs, wake, onStalled } = subscriber;
      if (states.get(accountId) !== before.get(accountId)) wake();
      if (clock.now() - takenAtMs > STALLED_MS) onStalled();
    }
  }
}
