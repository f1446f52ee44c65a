import { Fifo } from './fifo.ts';

type Limited = { id: string; shard: number; maxPerSecond: number | null };

/** A request, and from when on it counts for a second: its answer, at the latest `MAX_TRANSIT_MS` after it was sent. */
export type SentRequest = { countsFromMs: number };

/**
 * For how long a request counts: a second, and 10 ms for the rounding of clocks.
 * @internal  tests count with it
 */
export const SPAN_MS = 1_010;
/**
 * A request reaches its receiver within this time.
 * @internal  tests count with it
 */
export const MAX_TRANSIT_MS = 250;

/**
 * When webhooks with a limit per second may start their next attempt: in no span of a second do more requests arrive
 * than the limit allows. An attempt counts from its start, because its request follows as soon as a connection is
 * open, until a second after its request has arrived: that is known when it is answered. Memory holds the requests of
 * the last second.
 *
 * The owner of a shard before may have sent some just before the shard was taken, so webhooks with a limit start
 * nothing in the first second after. Times are those of the caller's clock. A clock that is set back makes nobody wait
 * longer.
 */
export class StartRates {
  /** How many attempts of each webhook have started and not sent their request. */
  readonly #unsent = new Map<string, number>();
  /** Each webhook's requests, in the order in which they were sent. */
  readonly #sent = new Map<string, SentRequest[]>();
  readonly #order = new Fifo<{ id: string; request: SentRequest }>();
  readonly #heldUntilMs = new Map<number, number>();
  #nowMs = Number.NEGATIVE_INFINITY;
  /** All steps of the clock forwards. The other times are in these ms. */
  #elapsedMs = 0;

  /** Takes the time. Call it before the others. */
  advance(nowMs: number): void {
    if (nowMs > this.#nowMs && Number.isFinite(this.#nowMs)) this.#elapsedMs += nowMs - this.#nowMs;
    this.#nowMs = nowMs;
    for (let first = this.#order.peek(); first && !this.counts(first.request); first = this.#order.peek()) {
      this.#order.shift();
      const sent = this.#sent.get(first.id)!;
      sent.shift();
      if (sent.length === 0) this.#sent.delete(first.id);
    }
  }

  /** Lets no webhook of the shard that has a limit start anything for a second. */
  hold(shard: number): void {
    this.#heldUntilMs.set(shard, this.#elapsedMs + SPAN_MS);
  }

  /** An attempt starts, or may send its request again. Returns whether it is counted: `sent` is to be called. */
  started({ id, maxPerSecond }: Limited): boolean {
    if (maxPerSecond === null) return false;
    this.#unsent.set(id, (this.#unsent.get(id) ?? 0) + 1);
    return true;
  }

  /** An attempt sends its request now, or has ended without one. */
  sent(id: string): SentRequest {
    const unsent = this.#unsent.get(id)! - 1;
    if (unsent > 0) this.#unsent.set(id, unsent);
    else this.#unsent.delete(id);
    const request = { countsFromMs: this.#elapsedMs + MAX_TRANSIT_MS };
    const sent = this.#sent.get(id);
    if (sent) sent.push(request);
    else this.#sent.set(id, [request]);
    this.#order.push({ id, request });
    return request;
  }

  /** The request was answered, so it has arrived. */
  arrived(request: SentRequest): void {
    request.countsFromMs = Math.min(request.countsFromMs, this.#elapsedMs);
  }

  /** Whether the request takes a place now. */
  counts({ countsFromMs }: SentRequest): boolean {
    return countsFromMs > this.#elapsedMs - SPAN_MS;
  }

  /** When the next attempt may start; -Infinity or a time that has passed: now. Infinity: after another has sent. */
  freeAtMs({ id, shard, maxPerSecond }: Limited): number {
    if (maxPerSecond === null) return Number.NEGATIVE_INFINITY;
    const places = maxPerSecond - (this.#unsent.get(id) ?? 0);
    if (places <= 0) return Number.POSITIVE_INFINITY;
    const timesMs = (this.#sent.get(id) ?? []).map(({ countsFromMs }) => countsFromMs).sort((a, b) => a - b);
    const blocking = timesMs.at(-places) ?? Number.NEGATIVE_INFINITY;
    const heldUntilMs = this.#heldUntilMs.get(shard) ?? Number.NEGATIVE_INFINITY;
    return this.#nowMs + Math.max(blocking + SPAN_MS, heldUntilMs) - this.#elapsedMs;
  }
}
