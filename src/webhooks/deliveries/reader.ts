import { logFailure } from '../../db/database.ts';
import { BOUNDS } from '../../rules/bounds.ts';
import { READ_LIMITS } from '../scheduler/limits.ts';
import type { RefillRequest } from '../scheduler/refills.ts';
import type { WebhookSettings } from '../scheduler/webhook-settings.ts';
import type { DelivererParts } from './deliverer-parts.ts';
import { findWebhooksDue, type ReadDeliveries, readDue, readDueOfWebhook } from './due-store.ts';

// Gathers notifications that follow each other.
const MIN_ROUND_MS = 3;
const CONCURRENT_REFILLS = 3;

/**
 * Why the webhooks of a shard are searched: for rows that memory may lack from a time on, or for rows that were missed.
 */
type Search = { fromMs: number } | 'missed';

/**
 * Reads what is due in the owned shards into the scheduler: upon each notification and every second what became due
 * lately, and from the search of a shard's webhooks all else: when the shard is taken, when more was due than one read
 * brings, and once a minute.
 */
export class Reader {
  readonly #parts: DelivererParts;
  readonly #notified = new Set<number>();
  readonly #searches = new Map<number, Search>();
  /** The database's time before the last read of each shard. */
  readonly #readAtMs = new Map<number, number>();
  #nextRoundMs = Number.NEGATIVE_INFINITY;
  #nextPollMs = Number.NEGATIVE_INFINITY;
  #nextSearchMs: number;
  #isReading = false;
  #isSearching = false;
  #isStopping = false;
  #refills = 0;
  readonly #running = new Set<Promise<void>>();

  constructor(parts: DelivererParts) {
    this.#parts = parts;
    this.#nextSearchMs = parts.monotonicMs() + BOUNDS.deliverySearchMs;
  }

  /** Reads nothing from now on. Resolves when no statement runs any more. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#running);
  }

  /** @param payload  a shard with due deliveries; empty: any of them */
  notify(payload: string): void {
    const shard = Number(payload);
    if (payload === '') this.#nextPollMs = Number.NEGATIVE_INFINITY;
    else if (this.#parts.ownership.epochOf(shard) === null) return;
    else this.#notified.add(shard);
    this.#parts.wake();
  }

  /** Reads all that is due in shards that were just taken. */
  taken(shards: number[]): void {
    const nowMs = this.#parts.databaseClock.nowMs();
    for (const shard of shards) {
      this.#readAtMs.set(shard, nowMs);
      this.#searches.set(shard, { fromMs: Number.NEGATIVE_INFINITY });
    }
    this.#search();
  }

  /**
   * Begins the read that is due, unless one runs. Returns after how many ms the next is due; Infinity: after this one.
   */
  read(): number {
    if (this.#isReading || this.#isStopping) return Number.POSITIVE_INFINITY;
    const nowMs = this.#parts.monotonicMs();
    const dueMs = this.#notified.size > 0 ? nowMs : this.#nextPollMs;
    const waitMs = Math.max(dueMs, this.#nextRoundMs) - nowMs;
    if (waitMs > 0) return waitMs;
    this.#isReading = true;
    this.#nextRoundMs = nowMs + MIN_ROUND_MS;
    this.#track(this.#readRound(nowMs));
    return Number.POSITIVE_INFINITY;
  }

  /** Begins reads of the webhooks that run low. */
  refill(): void {
    const { scheduler, databaseClock } = this.#parts;
    if (this.#isStopping) return;
    for (const request of scheduler.refills(CONCURRENT_REFILLS - this.#refills, databaseClock.nowMs())) {
      this.#refills += 1;
      this.#track(this.#refillOne(request));
    }
  }

  async #readRound(startedMs: number): Promise<void> {
    const { log, wake } = this.#parts;
    await this.#readDue(startedMs).catch((error) => logFailure(log, error, 'reading due deliveries'));
    this.#isReading = false;
    if (startedMs >= this.#nextSearchMs) this.#searchForMissed(startedMs);
    // After a failure.
    else if (this.#searches.size > 0) this.#search();
    wake();
  }

  async #readDue(startedMs: number): Promise<void> {
    const { ownership, databaseClock } = this.#parts;
    const isPoll = startedMs >= this.#nextPollMs;
    if (isPoll) this.#nextPollMs = startedMs + BOUNDS.deliveryPollMs;
    const shards = ownership.openShards().filter((shard) => isPoll || this.#notified.has(shard));
    this.#notified.clear();
    if (shards.length === 0) return;
    const nowMs = databaseClock.nowMs();
    const readFromMs = Math.min(...shards.map((shard) => this.#readAtMs.get(shard)!)) - BOUNDS.usualCommitMs;
    const fromMs = isPoll ? Math.min(readFromMs, nowMs - BOUNDS.lateCommitMs) : readFromMs;
    const count = await this.#read(shards, { fromMs, untilMs: nowMs + BOUNDS.deliveryAheadMs });
    for (const shard of shards) this.#readAtMs.set(shard, nowMs);
    if (count < READ_LIMITS.rows) return;
    for (const shard of shards) if (!this.#searches.has(shard)) this.#searches.set(shard, { fromMs });
    this.#search();
  }

  async #read(shards: number[], { fromMs, untilMs }: { fromMs: number; untilMs: number }): Promise<number> {
    const { db, scheduler, webhooks } = this.#parts;
    const read = scheduler.beginRead();
    const sentAtMs = this.#parts.monotonicMs();
    try {
      const without = scheduler.backlogged(READ_LIMITS.leftOut);
      const known = scheduler.known({ shards, fromMs, limit: READ_LIMITS.known });
      const answer = await readDue(db, { shards, fromMs, untilMs, without, known, limit: READ_LIMITS.rows });
      this.#keep(answer, { read, sentAtMs });
      for (const delivery of answer.deliveries) {
        scheduler.offer(delivery, webhooks.get(delivery.webhookId)!, read);
      }
      return answer.deliveries.length;
    } finally {
      scheduler.endRead(read);
    }
  }

  async #refillOne({ read, shard, webhookId, fromMs, toMs, limit, known }: RefillRequest): Promise<void> {
    const { db, log, scheduler, webhooks, wake } = this.#parts;
    const hasSettings =
      webhooks.isFreshFor(webhookId, BOUNDS.settingsRefillMs) && webhooks.get(webhookId)!.state === 'active';
    const sentAtMs = this.#parts.monotonicMs();
    const span = { fromMs, untilMs: toMs, limit, known, withSettings: !hasSettings };
    try {
      const answer = await readDueOfWebhook(db, { shard, webhookId, ...span });
      this.#keep(answer, { read, sentAtMs });
      const [webhook] = answer.webhooks;
      if (hasSettings) webhooks.apply(webhookId);
      scheduler.refilled(read, answer.deliveries, webhook ?? null);
    } catch (error) {
      scheduler.endRead(read);
      logFailure(log, error, 'reading the deliveries of a webhook');
    }
    this.#refills -= 1;
    wake();
  }

  /** Keeps what came with the rows: the settings of their webhooks, and the time. */
  #keep({ webhooks, nowMs }: ReadDeliveries, read: { read: number; sentAtMs: number }): void {
    if (nowMs !== null) this.#parts.databaseClock.adjust(nowMs);
    for (const webhook of webhooks) {
      this.#parts.webhooks.keep(webhook, read);
      this.#parts.drops.dropIfInactive(webhook);
    }
  }

  #searchForMissed(startedMs: number): void {
    this.#nextSearchMs = startedMs + BOUNDS.deliverySearchMs;
    for (const shard of this.#parts.ownership.openShards()) {
      if (!this.#searches.has(shard)) this.#searches.set(shard, 'missed');
    }
    this.#search();
  }

  #search(): void {
    if (this.#isSearching || this.#isStopping) return;
    this.#isSearching = true;
    this.#track(this.#searchShards());
  }

  /** Stops at a failure: the next round begins again. */
  async #searchShards(): Promise<void> {
    const { log, ownership, wake } = this.#parts;
    try {
      for (const [shard, search] of this.#searches) {
        if (this.#isStopping) break;
        if (ownership.epochOf(shard) !== null) await this.#searchShard(shard, search);
        if (this.#searches.get(shard) === search) this.#searches.delete(shard);
        wake();
      }
    } catch (error) {
      logFailure(log, error, 'searching for due deliveries');
    }
    this.#isSearching = false;
  }

  async #searchShard(shard: number, search: Search): Promise<void> {
    const { db, scheduler, databaseClock, metrics, webhooks } = this.#parts;
    const nowMs = databaseClock.nowMs();
    const untilMs = search === 'missed' ? nowMs - BOUNDS.foundLateMs : nowMs + BOUNDS.deliveryAheadMs;
    const inactive: WebhookSettings[] = [];
    const read = scheduler.beginRead();
    try {
      for (const first of await findWebhooksDue(db, { shard, untilMs })) {
        const known = webhooks.get(first.webhookId);
        if (search !== 'missed') {
          scheduler.spill({ id: first.webhookId, shard, isHealthy: known?.isHealthy }, search.fromMs);
          continue;
        }
        const isFound = scheduler.found({ ...first, shard }, read);
        if (known && known.state !== 'active') inactive.push(known);
        else if (isFound) metrics?.deliveriesFoundLate.inc();
      }
    } finally {
      scheduler.endRead(read);
    }
    await this.#dropOf(inactive);
  }

  /**
   * Has the deliveries dropped of those of the webhooks that are still inactive: no refill reads them. They were in
   * flight when the others were dropped, and their results were not recorded.
   */
  async #dropOf(inactive: WebhookSettings[]): Promise<void> {
    const { webhooks, drops } = this.#parts;
    await webhooks.refresh(inactive);
    for (const { id } of inactive) drops.dropIfInactive(webhooks.get(id));
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#running.delete(tracked));
    this.#running.add(tracked);
  }
}
