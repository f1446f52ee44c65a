import { Fifo } from './fifo.ts';
import { HEALTHY_PER_DEGRADED, type StartLimits } from './limits.ts';
import { StartRates } from './start-rates.ts';
import { WakeHeap } from './wake-heap.ts';
import type { Entry, Item, WebhookQueue } from './webhook-queue.ts';

/**
 * Decides which webhook starts its next attempt: one attempt for each webhook in turn, healthy webhooks before degraded
 * ones. Webhooks whose first entry is not due yet, or whose limit per second is reached, wait in a heap.
 */
export class StartOrder<E extends Entry> {
  readonly #limits: StartLimits;
  readonly #isHeld: (shard: number) => boolean;
  readonly #healthy = new Fifo<WebhookQueue<E>>();
  readonly #degraded = new Fifo<WebhookQueue<E>>();
  readonly #sleeping = new WakeHeap<WebhookQueue<E>>();
  readonly #rates = new StartRates();
  #nowMs = Number.NEGATIVE_INFINITY;
  #inFlight = 0;
  #degradedInFlight = 0;
  #healthyStarts = 0;

  /** @param isHeld  whether nothing may start in the shard */
  constructor(limits: StartLimits, isHeld: (shard: number) => boolean) {
    this.#limits = limits;
    this.#isHeld = isHeld;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** A shard was taken, whose owner before may have started attempts until now. */
  addShard(shard: number, nowMs: number): void {
    this.#rates.advance(nowMs);
    this.#rates.hold(shard);
  }

  /** Puts the webhook where it belongs after a change: at the end of a ring, or asleep until it may start something. */
  update(webhook: WebhookQueue<E>): void {
    if (webhook.isInRing || !this.#hasPlace(webhook)) return;
    const readyAtMs = this.#readyAtMs(webhook);
    if (readyAtMs <= this.#nowMs) {
      webhook.isInRing = true;
      this.#ringOf(webhook).push(webhook);
    } else if (readyAtMs < webhook.wakeAtMs) {
      // What the heap holds of this webhook with a later time is skipped when it comes up.
      webhook.wakeAtMs = readyAtMs;
      this.#sleeping.push(readyAtMs, webhook);
    }
  }

  /** The webhook's next item, sent from now on; null when nothing may start. */
  next(nowMs: number): { webhook: WebhookQueue<E>; item: Item<E> } | null {
    this.#nowMs = nowMs;
    this.#rates.advance(nowMs);
    this.#wake();
    const { inFlight, healthyOnlyFrom, degradedInFlight } = this.#limits;
    if (this.#inFlight >= inFlight) return null;
    const mayDegraded = this.#inFlight < healthyOnlyFrom && this.#degradedInFlight < degradedInFlight;
    const isDegradedNext = mayDegraded && this.#healthyStarts >= HEALTHY_PER_DEGRADED;
    return (
      (isDegradedNext ? this.#startIn(this.#degraded) : null) ??
      this.#startIn(this.#healthy) ??
      (mayDegraded ? this.#startIn(this.#degraded) : null)
    );
  }

  /** The attempt sends its request now. */
  sent(webhook: WebhookQueue<E>, item: Item<E>, nowMs: number): void {
    if (!item.isUnsent) return;
    this.#rates.advance(nowMs);
    this.#noteSent(webhook, item);
    this.update(webhook);
  }

  /**
   * Whether an attempt whose connection was found closed may send its request once more. The receiver has not got the
   * first one, which still counts: so the limit holds, unless that was more than a second ago.
   */
  mayRepeat(webhook: WebhookQueue<E>, item: Item<E>, nowMs: number): boolean {
    this.#rates.advance(nowMs);
    const isCounted = item.request !== null && this.#rates.counts(item.request);
    if (!isCounted && this.#rates.freeAtMs(webhook) > nowMs) return false;
    item.isUnsent = this.#rates.started(webhook);
    return true;
  }

  /** Frees the place of an attempt that has an answer. */
  answered(webhook: WebhookQueue<E>, item: Item<E>, nowMs: number): void {
    this.#rates.advance(nowMs);
    item.state = 'answered';
    if (item.isUnsent) this.#noteSent(webhook, item);
    if (item.request) this.#rates.arrived(item.request);
    webhook.inFlight--;
    this.#inFlight--;
    if (item.isDegraded) this.#degradedInFlight--;
    this.update(webhook);
  }

  /** When the next webhook may start something that may not now; null without any. */
  nextDueAtMs(): number | null {
    this.#skipStale();
    return this.#sleeping.peek()?.atMs ?? null;
  }

  #startIn(ring: Fifo<WebhookQueue<E>>): { webhook: WebhookQueue<E>; item: Item<E> } | null {
    for (let webhook = ring.shift(); webhook; webhook = ring.shift()) {
      webhook.isInRing = false;
      const isMoved = ring !== this.#ringOf(webhook);
      const mayStart = !isMoved && this.#hasPlace(webhook) && this.#readyAtMs(webhook) <= this.#nowMs;
      const item = mayStart ? webhook.takeDue(this.#nowMs) : undefined;
      if (item) this.#count(webhook, item);
      this.update(webhook);
      if (item) return { webhook, item };
    }
    return null;
  }

  #count(webhook: WebhookQueue<E>, item: Item<E>): void {
    item.state = 'sent';
    item.isDegraded = !webhook.isHealthy;
    webhook.inFlight++;
    webhook.unsettled.push(item);
    item.isUnsent = this.#rates.started(webhook);
    this.#inFlight++;
    if (item.isDegraded) this.#degradedInFlight++;
    this.#healthyStarts = item.isDegraded ? 0 : this.#healthyStarts + 1;
  }

  #noteSent(webhook: WebhookQueue<E>, item: Item<E>): void {
    item.isUnsent = false;
    item.request = this.#rates.sent(webhook.id);
  }

  #readyAtMs(webhook: WebhookQueue<E>): number {
    return Math.max(webhook.dueAtMs, this.#rates.freeAtMs(webhook));
  }

  #hasPlace(webhook: WebhookQueue<E>): boolean {
    return webhook.inFlight < this.#limits.inFlightPerWebhook && webhook.waiting > 0 && !this.#isHeld(webhook.shard);
  }

  #ringOf(webhook: WebhookQueue<E>): Fifo<WebhookQueue<E>> {
    return webhook.isHealthy ? this.#healthy : this.#degraded;
  }

  #wake(): void {
    this.#skipStale();
    for (let top = this.#sleeping.peek(); top && top.atMs <= this.#nowMs; top = this.#sleeping.peek()) {
      this.#sleeping.pop();
      top.item.wakeAtMs = Number.POSITIVE_INFINITY;
      this.update(top.item);
      this.#skipStale();
    }
  }

  #skipStale(): void {
    for (let top = this.#sleeping.peek(); top && !this.#isAwaited(top); top = this.#sleeping.peek())
      this.#sleeping.pop();
  }

  #isAwaited({ atMs, item: webhook }: { atMs: number; item: WebhookQueue<E> }): boolean {
    return webhook.wakeAtMs === atMs;
  }
}
