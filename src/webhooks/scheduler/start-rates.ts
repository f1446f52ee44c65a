import { Fifo } from './fifo.ts';

type Limited = { id: string; shard: number; maxPerSecond: number | null };

const SPAN_MS = 1_000;

/**
 * When webhooks with a limit per second may start their next attempt: in no span of a second do more start than the
 * limit allows. Memory holds the starts of the last second.
 *
 * The owner of a shard before may have started some just before the shard was taken, so webhooks with a limit start
 * nothing in the first second after. Times are those of the caller's clock. A clock that is set back makes nobody wait
 * longer.
 */
export class StartRates {
  /** Each webhook's starts, in the order of their time. */
  readonly #starts = new Map<string, number[]>();
  readonly #order = new Fifo<{ id: string; atMs: number }>();
  readonly #heldUntilMs = new Map<number, number>();
  #nowMs = Number.NEGATIVE_INFINITY;
  /** All steps of the clock forwards. The other times are in these ms. */
  #elapsedMs = 0;

  /** Takes the time. Call it before the others. */
  advance(nowMs: number): void {
    if (nowMs > this.#nowMs && Number.isFinite(this.#nowMs)) this.#elapsedMs += nowMs - this.#nowMs;
    this.#nowMs = nowMs;
    for (let first = this.#order.peek(); first && first.atMs <= this.#elapsedMs - SPAN_MS; first = this.#order.peek()) {
      this.#order.shift();
      const starts = this.#starts.get(first.id)!;
      starts.shift();
      if (starts.length === 0) this.#starts.delete(first.id);
    }
  }

  /** Lets no webhook of the shard that has a limit start anything for a second. */
  hold(shard: number): void {
    this.#heldUntilMs.set(shard, this.#elapsedMs + SPAN_MS);
  }

  started({ id, maxPerSecond }: Limited): void {
    if (maxPerSecond === null) return;
    const starts = this.#starts.get(id);
    if (starts) starts.push(this.#elapsedMs);
    else this.#starts.set(id, [this.#elapsedMs]);
    this.#order.push({ id, atMs: this.#elapsedMs });
  }

  /** When the next attempt may start; -Infinity or a time that has passed: now. */
  freeAtMs({ id, shard, maxPerSecond }: Limited): number {
    if (maxPerSecond === null) return Number.NEGATIVE_INFINITY;
    const blocking = this.#starts.get(id)?.at(-maxPerSecond) ?? Number.NEGATIVE_INFINITY;
    const heldUntilMs = this.#heldUntilMs.get(shard) ?? Number.NEGATIVE_INFINITY;
    return this.#nowMs + Math.max(blocking + SPAN_MS, heldUntilMs) - this.#elapsedMs;
  }
}
