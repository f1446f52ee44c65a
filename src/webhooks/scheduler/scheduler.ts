import { LIMITS, type SchedulerLimits } from './limits.ts';
import { OwnedShards } from './owned-shards.ts';
import { ReadLog } from './read-log.ts';
import { type RefillRequest, Refills } from './refills.ts';
import { StartOrder } from './start-order.ts';
import { type Entry, type Item, isBefore, newItem, type Offer, WebhookQueue } from './webhook-queue.ts';
import type { StartSettings } from './webhook-settings.ts';

// What waits may use so much of the memory that is left; the rest admits webhooks that come new.
const WAITING_SHARE = 0.75;

/**
 * The deliveries that a process has read and not finished, and the choice of the next to start. No I/O and no clock:
 * times are in ms of the database's clock and come from the caller.
 *
 * Order: at most 16 in flight per webhook, and no more requests in a second than its limit; one start for each webhook
 * in turn; first attempts before retries of the same webhook;
 * healthy webhooks before degraded ones, which also have fewer places.
 *
 * Memory is bounded. A webhook with more rows than it may hold is spilled: its later rows are forgotten, and it has a
 * cursor, from which `refills` has them read again. Every row that was offered and not refused as stale, inactive or
 * not owned is in memory, settled, or covered by a cursor.
 *
 * Life of an entry: `offer` or `refilled`, then `next` returns it, `sent` when its request is sent, `answered` when
 * that has ended, `settled` when its result is recorded, or `postponed` when there is none. Each takes constant or
 * logarithmic time.
 *
 * Reads: `beginRead` before each statement that reads deliveries is sent, `endRead` when its answer is processed or it
 * has failed. Rows of a read that began before an entry was settled are refused as stale.
 */
export class Scheduler<E extends Entry = Entry> {
  readonly #limits: SchedulerLimits;
  readonly #order: StartOrder<E>;
  readonly #reads = new ReadLog();
  readonly #items = new Map<string, Item<E>>();
  readonly #webhooks = new Map<string, WebhookQueue<E>>();
  readonly #shards = new OwnedShards();
  readonly #refills = new Refills<E>((webhook) => webhook.waiting < Math.max(1, this.#quota() >> 2));
  #unsettled = 0;
  #trimAfter = 0;

  constructor(limits: Partial<SchedulerLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits };
    this.#order = new StartOrder(this.#limits, (shard) => this.#shards.isHeld(shard));
  }

  /** The number of a read that is about to be sent. Every read must be ended. */
  beginRead(): number {
    return this.#reads.begin();
  }

  /** Ends a read after its rows were offered, or when it has failed. A refill that failed is asked for again. */
  endRead(read: number): void {
    const webhook = this.#refills.webhookOf(read);
    this.#refills.end(read, null);
    this.#reads.end(read);
    if (webhook) this.#update(webhook);
  }

  /** Accepts rows of a shard that was just taken, of reads that begin from now on. */
  addShard(shard: number, nowMs: number): void {
    this.#shards.add(shard, this.#reads.last);
    this.#order.addShard(shard, nowMs);
  }

  /** Forgets what waits in a shard. What has started remains until it is settled; see `unsettledOf`. */
  dropShard(shard: number): void {
    for (const id of this.#shards.webhooksOf(shard)) this.#removeWaiting(this.#webhooks.get(id)!);
    this.#shards.remove(shard);
  }

  /** While a shard with unsettled attempts is held, nothing of it starts. */
  hold(shard: number, isHeld: boolean): void {
    this.#shards.hold(shard, isHeld);
    for (const id of this.#shards.webhooksOf(shard)) this.#update(this.#webhooks.get(id)!);
  }

  /** Attempts of the shard that have started and are not settled. */
  unsettledOf(shard: number): number {
    return this.#shards.unsettledOf(shard);
  }

  /** The ids of the webhook's deliveries that have started and are not settled. */
  unsettledOfWebhook(id: string): string[] {
    return (this.#webhooks.get(id)?.unsettled ?? []).map(({ entry }) => entry.id);
  }

  /** Takes a row that is due now or soon. @param read  the read that brought it */
  offer(entry: E, settings: StartSettings, read: number): Offer {
    const refusal = this.#refusal(entry, read);
    if (refusal) return refusal;
    const known = this.#webhooks.get(settings.id);
    if (known) this.setWebhook(settings, read);
    if ((known ?? settings).state !== 'active') return 'inactive';
    if (this.#items.has(entry.id)) return 'known';
    const webhook = known ?? this.#addWebhook(settings, read);
    if (!webhook.spill || entry.nextAtMs < webhook.spill.fromMs) return this.#admit(webhook, newItem(entry, read));
    this.#refills.spill(webhook, entry.nextAtMs);
    return 'spilled';
  }

  /**
   * Takes the first waiting row of a webhook, which is due, as the enumeration finds it. If it is neither in memory nor
   * covered by a cursor, the webhook is spilled from this row on. Returns whether that was so.
   */
  found(row: Pick<Entry, 'id' | 'webhookId' | 'shard' | 'eventId' | 'nextAtMs'>, read: number): boolean {
    if (this.#refusal(row, read) || this.#items.has(row.id)) return false;
    const known = this.#webhooks.get(row.webhookId);
    if (known?.spill && row.nextAtMs >= known.spill.fromMs) return false;
    this.spill({ id: row.webhookId, shard: row.shard }, row.nextAtMs);
    return true;
  }

  /**
   * Reads a webhook's rows again from a time on, all of them by default: for each webhook of a shard after `addShard`,
   * and when a record was refused.
   * @param webhook.isHealthy  as last known, for a webhook that has nothing in memory
   */
  spill(
    { id, shard, isHealthy = false }: { id: string; shard: number; isHealthy?: boolean | undefined },
    fromMs = Number.NEGATIVE_INFINITY,
  ): void {
    if (!this.#shards.isOwned(shard)) return;
    const settings = { id, shard, isHealthy, state: 'active', maxPerSecond: null } as const;
    const webhook = this.#webhooks.get(id) ?? this.#addWebhook(settings, 0);
    this.#refills.spill(webhook, fromMs);
  }

  /**
   * Applies a webhook's settings, unless a later read has brought some. What waits for a webhook that may not send is
   * forgotten, and read again when it may.
   */
  setWebhook({ id, isHealthy, state, maxPerSecond }: StartSettings, read: number): void {
    const webhook = this.#webhooks.get(id);
    if (!webhook || read < webhook.settingsRead) return;
    const isSame = webhook.state === state && webhook.maxPerSecond === maxPerSecond;
    Object.assign(webhook, { settingsRead: read, isHealthy, state, maxPerSecond });
    if (isSame) return;
    if (state !== 'active') for (const item of webhook.items()) this.#evict(webhook, item);
    this.#update(webhook);
  }

  /** The next delivery to start, in flight from now on; null when nothing may start now. */
  next(nowMs: number): E | null {
    const started = this.#order.next(nowMs);
    if (!started) return null;
    this.#unsettled++;
    this.#shards.started(started.webhook.shard);
    this.#refills.update(started.webhook);
    return started.item.entry;
  }

  /** When a webhook may start something that may not start now; null without any. */
  nextDueAtMs(): number | null {
    return this.#order.nextDueAtMs();
  }

  /** A started delivery sends its request now. */
  sent(id: string, nowMs: number): void {
    const item = this.#items.get(id);
    if (item?.state === 'sent') this.#order.sent(this.#webhooks.get(item.entry.webhookId)!, item, nowMs);
  }

  /** Whether a started delivery whose connection was closed may send its request once more, within the limit. */
  mayRepeat(id: string, nowMs: number): boolean {
    const item = this.#items.get(id);
    return item?.state === 'sent' && this.#order.mayRepeat(this.#webhooks.get(item.entry.webhookId)!, item, nowMs);
  }

  /** The request of a started delivery has ended: its place at the webhook is free. */
  answered(id: string, nowMs: number): void {
    const item = this.#items.get(id);
    if (item?.state === 'sent') this.#order.answered(this.#webhooks.get(item.entry.webhookId)!, item, nowMs);
  }

  /**
   * The end of a started delivery that is recorded. Without a retry its row is gone. With one, the row has these new
   * values; it waits in memory when it is due soon, and otherwise the reader finds it when it is. When the record was
   * refused although the shard is owned: no retry, then `spill`.
   */
  settled(id: string, retry: Pick<Entry, 'attempt' | 'attemptId' | 'nextAtMs'> | null, nowMs: number): void {
    this.#end(id, nowMs, (webhook, { entry, read }) => {
      const waits = retry && webhook.state === 'active' && retry.nextAtMs <= nowMs + this.#limits.aheadMs;
      if (waits) this.#admit(webhook, newItem({ ...entry, ...retry }, read));
    });
  }

  /**
   * The end of a started delivery without anything to record: its row is as it was, and it starts again at a later
   * time. It is never forgotten: no read would find its row, which was due before.
   */
  postponed(id: string, startAtMs: number, nowMs: number): void {
    this.#end(id, nowMs, (webhook, { entry, read }) => {
      if (webhook.state === 'active') this.#admit(webhook, newItem(entry, read, startAtMs));
      else this.#refills.spill(webhook, entry.nextAtMs);
    });
  }

  /**
   * Ids of at most `limit` webhooks with a backlog.
   * A read that begins now may leave them out: a refill brings their rows.
   */
  backlogged(limit: number): string[] {
    return this.#refills.waiting(limit);
  }

  /**
   * The ids of at most `limit` deliveries in memory, of the shards and due from a time on. A read that begins now may
   * leave them out.
   */
  known({ shards, fromMs, limit }: { shards: number[]; fromMs: number; limit: number }): string[] {
    const isRead = new Set(shards);
    const ids: string[] = [];
    for (const { entry } of this.#items.values()) {
      if (ids.length === limit) break;
      if (entry.nextAtMs >= fromMs && isRead.has(entry.shard)) ids.push(entry.id);
    }
    return ids;
  }

  /** Reads of spilled webhooks that run low, to be sent now; `refilled` or `endRead` ends each. */
  refills(limit: number, nowMs: number): RefillRequest[] {
    const requests: RefillRequest[] = [];
    while (requests.length < limit && this.#refills.isNeeded && this.#hasSpace()) {
      const webhook = this.#refills.take();
      if (!webhook) break;
      const refill = { read: this.#reads.begin(), limit: Math.max(1, this.#quota() - webhook.waiting), nowMs };
      requests.push(this.#refills.begin(webhook, refill));
    }
    return requests;
  }

  /** Takes the answer of a refill. @param settings  null without rows */
  refilled(read: number, entries: E[], settings: StartSettings | null): void {
    const webhook = this.#refills.webhookOf(read);
    if (settings) this.setWebhook(settings, read);
    for (const entry of webhook ? entries : []) {
      if (this.#refusal(entry, read) || this.#items.has(entry.id)) continue;
      if (webhook!.state === 'active') this.#admit(webhook!, newItem(entry, read));
      else this.#refills.spill(webhook!, entry.nextAtMs);
    }
    this.#refills.end(read, { count: entries.length, lastMs: entries.at(-1)?.nextAtMs ?? 0 });
    this.#reads.end(read);
    if (webhook) this.#update(webhook);
  }

  /** The waiting rows of a webhook were dropped: forgets them, also in the answers of reads in progress. */
  dropWebhook(id: string): void {
    this.#reads.bury(id, this.#reads.last);
    const webhook = this.#webhooks.get(id);
    if (webhook) this.#removeWaiting(webhook);
  }

  /** The waiting rows of these events were deleted. Goes through all entries: pass many ids at a time. */
  dropEvents(eventIds: string[]): void {
    for (const id of eventIds) this.#reads.bury(id, this.#reads.last);
    const ids = new Set(eventIds);
    for (const item of this.#items.values()) {
      if (item.state !== 'waiting' || !ids.has(item.entry.eventId)) continue;
      const webhook = this.#webhooks.get(item.entry.webhookId)!;
      this.#remove(webhook, item);
      this.#update(webhook);
    }
  }

  /** `unrecorded`: answered and not settled. `webhooks`: with something in memory or spilled. */
  sizes() {
    const { inFlight } = this.#order;
    const entries = this.#items.size;
    return {
      entries,
      waiting: entries - this.#unsettled,
      inFlight,
      unrecorded: this.#unsettled - inFlight,
      webhooks: this.#webhooks.size,
      spilled: this.#refills.spilled,
    };
  }

  /** @param keep  called if the row can only have been changed by this process */
  #end(id: string, nowMs: number, keep: (webhook: WebhookQueue<E>, item: Item<E>) => void): void {
    const item = this.#items.get(id);
    if (!item || item.state === 'waiting') return;
    this.answered(id, nowMs);
    const { shard, webhookId } = item.entry;
    const webhook = this.#webhooks.get(webhookId)!;
    this.#items.delete(id);
    this.#unsettled--;
    webhook.settle(item);
    this.#reads.bury(id, this.#reads.last);
    const isOwned = this.#shards.isOwned(shard);
    // When the shard was lost meanwhile, another owner may have changed the row.
    if (isOwned && !this.#shards.isOwnedSince(shard, item.read)) this.#refills.spill(webhook, Number.NEGATIVE_INFINITY);
    else if (isOwned) keep(webhook, item);
    this.#update(webhook);
    this.#shards.settled(shard);
  }

  #refusal({ id, shard, webhookId, eventId }: Pick<Entry, 'id' | 'shard' | 'webhookId' | 'eventId'>, read: number) {
    if (!this.#shards.isOwned(shard)) return 'not_owned';
    const isTooOld = [id, webhookId, eventId].some((buried) => this.#reads.isTooOld(read, buried));
    return isTooOld || !this.#shards.isOwnedSince(shard, read) ? 'stale' : null;
  }

  /** Takes an entry, or forgets it or a later one of the webhook. */
  #admit(webhook: WebhookQueue<E>, item: Item<E>): 'taken' | 'spilled' {
    const latest = webhook.waiting >= this.#quota() ? webhook.latest()! : null;
    const isTaken = latest ? isBefore(item, latest) : this.#hasSpace();
    if (!isTaken) this.#refills.spill(webhook, item.entry.nextAtMs);
    else {
      if (latest) this.#evict(webhook, latest);
      this.#items.set(item.entry.id, item);
      webhook.add(item);
    }
    this.#update(webhook);
    return isTaken ? 'taken' : 'spilled';
  }

  /** Forgets an entry that waits; its row is read again. */
  #evict(webhook: WebhookQueue<E>, item: Item<E>): void {
    this.#remove(webhook, item);
    this.#refills.spill(webhook, item.entry.nextAtMs);
  }

  #remove(webhook: WebhookQueue<E>, item: Item<E>): void {
    webhook.remove(item);
    this.#items.delete(item.entry.id);
  }

  #removeWaiting(webhook: WebhookQueue<E>): void {
    for (const item of webhook.items()) this.#remove(webhook, item);
    this.#refills.clear(webhook);
    this.#update(webhook);
  }

  /** How many entries of each webhook may wait in memory. */
  #quota(): number {
    const { total, perWebhook } = this.#limits;
    const space = WAITING_SHARE * (total - this.#unsettled);
    return Math.max(1, Math.min(perWebhook, Math.floor(space / Math.max(1, this.#webhooks.size))));
  }

  /** Whether an entry may be added. When memory is full, webhooks with more than their quota forget the rest. */
  #hasSpace(): boolean {
    const { total } = this.#limits;
    if (this.#items.size < total) return true;
    // Goes through all webhooks, so not again soon if it made little space.
    if (--this.#trimAfter > 0) return false;
    const quota = this.#quota();
    for (const webhook of this.#webhooks.values())
      while (webhook.waiting > quota) this.#evict(webhook, webhook.latest()!);
    this.#trimAfter = (this.#webhooks.size >> 2) - (total - this.#items.size);
    return this.#items.size < total;
  }

  #addWebhook(settings: StartSettings, read: number): WebhookQueue<E> {
    const webhook = new WebhookQueue<E>(settings, read);
    this.#webhooks.set(webhook.id, webhook);
    this.#shards.addWebhook(webhook.shard, webhook.id);
    return webhook;
  }

  #update(webhook: WebhookQueue<E>): void {
    this.#order.update(webhook);
    this.#refills.update(webhook);
    if (!webhook.isIdle) return;
    this.#webhooks.delete(webhook.id);
    this.#shards.removeWebhook(webhook.shard, webhook.id);
  }
}
