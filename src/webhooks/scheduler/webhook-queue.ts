import type { SentRequest } from './start-rates.ts';
import type { StartSettings, WebhookState } from './webhook-settings.ts';

/** A delivery that waits, as read from the database. Times in ms of the database's clock. */
export type Entry = {
  id: string;
  shard: number;
  webhookId: string;
  eventId: string;
  /** Number of the next attempt, from 1. */
  attempt: number;
  /** The fence of the row: a record of the attempt succeeds only while the row has this id. */
  attemptId: string;
  /** When the row is due. */
  nextAtMs: number;
};

/**
 * What became of a row that was read: it is in memory and will be started (taken), or was in memory already (known); it
 * was forgotten, and a refill will read it again (spilled); it was processed, dropped or lost since the read began
 * (stale); its webhook may not send now (inactive); its shard is not owned (not_owned).
 */
export type Offer = 'taken' | 'known' | 'spilled' | 'stale' | 'inactive' | 'not_owned';

/** An entry in memory. */
export type Item<E extends Entry> = {
  entry: E;
  /** It starts then at the earliest: when the row is due, or later where the start was put off. */
  startAtMs: number;
  /** Waiting: may be started, or forgotten and read again. Sent: no answer yet. Answered: to be recorded. */
  state: 'waiting' | 'sent' | 'answered';
  /** The read that brought it. */
  read: number;
  /** Its place was counted as one of a degraded webhook. */
  isDegraded: boolean;
  /** It has started, its request is not sent yet, and the limit per second counts it. */
  isUnsent: boolean;
  /** Its request, where the limit per second counts it. */
  request: SentRequest | null;
};

export function newItem<E extends Entry>(entry: E, read: number, startAtMs = entry.nextAtMs): Item<E> {
  return { entry, startAtMs, state: 'waiting', read, isDegraded: false, isUnsent: false, request: null };
}

/** The rows of a webhook that memory does not hold. */
export type Spill = {
  /** Each of them is due at this time or later. */
  fromMs: number;
  /** The refill in progress. Those that were forgotten since it began are due at `forgottenMs` or later. */
  refill: { read: number; limit: number; forgottenMs: number } | null;
  /** Time of the last refill that looked back the long way. */
  lookedBackAtMs: number;
};

/** One webhook's entries: those that wait, in the order of their start, and how many have started. */
export class WebhookQueue<E extends Entry> {
  readonly id: string;
  readonly shard: number;
  isHealthy: boolean;
  state: WebhookState;
  maxPerSecond: number | null;
  /** The read that the settings are from. */
  settingsRead: number;
  /** Sent, without an answer. */
  inFlight = 0;
  /** Those that were sent or answered, and are not settled. An array and not a Set: see egress/deadlines.ts. */
  readonly unsettled: Item<E>[] = [];
  spill: Spill | null = null;
  isInRing = false;
  isInRefills = false;
  wakeAtMs = Number.POSITIVE_INFINITY;
  readonly #firsts: Item<E>[] = [];
  readonly #retries: Item<E>[] = [];

  constructor({ id, shard, isHealthy, state, maxPerSecond }: StartSettings, read: number) {
    this.id = id;
    this.shard = shard;
    this.isHealthy = isHealthy;
    this.state = state;
    this.maxPerSecond = maxPerSecond;
    this.settingsRead = read;
  }

  get waiting(): number {
    return this.#firsts.length + this.#retries.length;
  }

  /** Nothing of it is in memory or spilled. */
  get isIdle(): boolean {
    return this.waiting === 0 && this.unsettled.length === 0 && this.spill === null;
  }

  /** When the first of what waits may start. */
  get dueAtMs(): number {
    return Math.min(dueAt(this.#firsts[0]), dueAt(this.#retries[0]));
  }

  /** Inserts by time, almost always at the end. */
  add(item: Item<E>): void {
    const items = this.#itemsLike(item);
    let index = items.length;
    while (index > 0 && isBefore(item, items[index - 1]!)) index--;
    if (index === items.length) items.push(item);
    else items.splice(index, 0, item);
  }

  remove(item: Item<E>): void {
    const items = this.#itemsLike(item);
    items.splice(items.indexOf(item), 1);
  }

  /** Removes and returns what starts next: first attempts before retries, each in the order of their times. */
  takeDue(nowMs: number): Item<E> | undefined {
    if (dueAt(this.#firsts[0]) <= nowMs) return this.#firsts.shift();
    if (dueAt(this.#retries[0]) <= nowMs) return this.#retries.shift();
    return undefined;
  }

  /** The last one by time. */
  latest(): Item<E> | undefined {
    const [first, retry] = [this.#firsts.at(-1), this.#retries.at(-1)];
    return first && retry ? (isBefore(first, retry) ? retry : first) : (first ?? retry);
  }

  /** Those that wait. */
  items(): Item<E>[] {
    return [...this.#firsts, ...this.#retries];
  }

  /** The ids of all, those that wait and those that are not settled. */
  ids(): string[] {
    return [...this.#firsts, ...this.#retries, ...this.unsettled].map(({ entry }) => entry.id);
  }

  settle(item: Item<E>): void {
    const last = this.unsettled.pop()!;
    if (last !== item) this.unsettled[this.unsettled.indexOf(item)] = last;
  }

  #itemsLike({ entry }: Item<E>): Item<E>[] {
    return entry.attempt === 1 ? this.#firsts : this.#retries;
  }
}

function dueAt(item: Item<Entry> | undefined): number {
  return item ? item.startAtMs : Number.POSITIVE_INFINITY;
}

/** Whether the first starts before the second; by id when both start at the same time. */
export function isBefore(first: Item<Entry>, second: Item<Entry>): boolean {
  if (first.startAtMs !== second.startAtMs) return first.startAtMs < second.startAtMs;
  return first.entry.id < second.entry.id;
}
