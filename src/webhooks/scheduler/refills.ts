import { BOUNDS } from '../../rules/bounds.ts';
import { Fifo } from './fifo.ts';
import { HEALTHY_PER_DEGRADED } from './limits.ts';
import type { Entry, Spill, WebhookQueue } from './webhook-queue.ts';

/**
 * A read of one webhook's rows: the first `limit` by `next_at` from `fromMs` (may be -Infinity) to `toMs`, without
 * `known`.
 */
export type RefillRequest = {
  read: number;
  webhookId: string;
  shard: number;
  fromMs: number;
  toMs: number;
  limit: number;
  /** The ids of the webhook's rows in memory. */
  known: string[];
};

/**
 * The webhooks of which memory does not hold all rows. Each has a cursor: the rows from there on are read again, a few
 * at a time, whenever it runs low.
 */
export class Refills<E extends Entry> {
  readonly #isLow: (webhook: WebhookQueue<E>) => boolean;
  /**
   * Webhooks that run low, in the order in which they are refilled: a healthy one does not wait for many degraded ones.
   */
  readonly #low = { healthy: new Fifo<WebhookQueue<E>>(), degraded: new Fifo<WebhookQueue<E>>() };
  #healthyTaken = 0;
  readonly #open = new Map<number, WebhookQueue<E>>();
  readonly #spilled = new Set<WebhookQueue<E>>();

  /** @param isLow  whether the webhook has few entries in memory */
  constructor(isLow: (webhook: WebhookQueue<E>) => boolean) {
    this.#isLow = isLow;
  }

  /** The number of webhooks with a cursor. */
  get spilled(): number {
    return this.#spilled.size;
  }

  /** Ids of at most `limit` webhooks whose next refill begins later: until then they have enough in memory. */
  waiting(limit: number): string[] {
    const ids: string[] = [];
    for (const webhook of this.#spilled) {
      if (ids.length === limit) break;
      if (webhook.state === 'active' && !webhook.spill!.refill && !this.#isLow(webhook)) ids.push(webhook.id);
    }
    return ids;
  }

  /** Notes a row that is not in memory, or all rows from a time on. */
  spill(webhook: WebhookQueue<E>, fromMs: number): void {
    this.#spilled.add(webhook);
    webhook.spill ??= { fromMs, refill: null, lookedBackAtMs: Number.NEGATIVE_INFINITY };
    const { spill } = webhook;
    spill.fromMs = Math.min(spill.fromMs, fromMs);
    if (spill.refill) spill.refill.forgottenMs = Math.min(spill.refill.forgottenMs, fromMs);
    this.update(webhook);
  }

  /** Removes the cursor. The answer of a refill in progress is ignored. */
  clear(webhook: WebhookQueue<E>): void {
    if (!webhook.spill) return;
    webhook.spill = null;
    this.#spilled.delete(webhook);
  }

  /** Queues the webhook for a refill if it needs one. */
  update(webhook: WebhookQueue<E>): void {
    if (webhook.isInRefills || !this.#needsRefill(webhook)) return;
    webhook.isInRefills = true;
    (webhook.isHealthy ? this.#low.healthy : this.#low.degraded).push(webhook);
  }

  /** Whether a webhook may be waiting for a refill. */
  get isNeeded(): boolean {
    return this.#low.healthy.size > 0 || this.#low.degraded.size > 0;
  }

  /** The next webhook to refill; null without any. */
  take(): WebhookQueue<E> | null {
    const { healthy, degraded } = this.#low;
    const isDegradedNext = this.#healthyTaken >= HEALTHY_PER_DEGRADED;
    return (isDegradedNext ? this.#takeOf(degraded) : null) ?? this.#takeOf(healthy) ?? this.#takeOf(degraded);
  }

  #takeOf(low: Fifo<WebhookQueue<E>>): WebhookQueue<E> | null {
    for (let webhook = low.shift(); webhook; webhook = low.shift()) {
      webhook.isInRefills = false;
      if (!this.#needsRefill(webhook)) continue;
      this.#healthyTaken = low === this.#low.healthy ? this.#healthyTaken + 1 : 0;
      return webhook;
    }
    return null;
  }

  begin(
    webhook: WebhookQueue<E>,
    { read, limit, nowMs }: { read: number; limit: number; nowMs: number },
  ): RefillRequest {
    const spill = webhook.spill!;
    spill.refill = { read, limit, forgottenMs: Number.POSITIVE_INFINITY };
    this.#open.set(read, webhook);
    return {
      read,
      webhookId: webhook.id,
      shard: webhook.shard,
      fromMs: lookBack(spill, nowMs),
      toMs: nowMs + BOUNDS.refillAheadMs,
      limit,
      known: webhook.ids(),
    };
  }

  /** The webhook of a refill in progress; null when it has been cleared since. */
  webhookOf(read: number): WebhookQueue<E> | null {
    const webhook = this.#open.get(read);
    return webhook?.spill?.refill?.read === read ? webhook : null;
  }

  /**
   * Ends a refill. It leaves no cursor only if it brought fewer rows than asked and none was forgotten since it began.
   * @param rows  how many came, and the time of the last; null when the read failed
   */
  end(read: number, rows: { count: number; lastMs: number } | null): void {
    const webhook = this.webhookOf(read);
    this.#open.delete(read);
    if (!webhook) return;
    const spill = webhook.spill!;
    const { limit, forgottenMs } = spill.refill!;
    spill.refill = null;
    if (rows) spill.fromMs = Math.min(rows.count < limit ? Number.POSITIVE_INFINITY : rows.lastMs, forgottenMs);
    if (spill.fromMs === Number.POSITIVE_INFINITY) this.clear(webhook);
    else this.update(webhook);
  }

  #needsRefill(webhook: WebhookQueue<E>): boolean {
    return webhook.spill !== null && !webhook.spill.refill && webhook.state === 'active' && this.#isLow(webhook);
  }
}

/**
 * Where a refill begins: 1 ms before the cursor, whose fractions may be rounded, or earlier. A row that was committed
 * late may be due before rows that were read earlier: each refill of a recent range looks back a little, and as many as
 * the reader polls look back as far as a poll.
 */
function lookBack(spill: Spill, nowMs: number): number {
  const isLong = Math.abs(nowMs - spill.lookedBackAtMs) >= BOUNDS.deliveryPollMs;
  const backMs = spill.fromMs - (isLong ? BOUNDS.lateCommitMs : BOUNDS.usualCommitMs);
  if (isLong) spill.lookedBackAtMs = nowMs;
  return Math.min(spill.fromMs - 1, Math.max(backMs, nowMs - BOUNDS.lateCommitMs));
}
