import type { ServerResponse } from 'node:http';

export type UnreadLimits = { maxBytes: number; maxBytesPerCaller: number };

const MIB = 1024 * 1024;
// Smaller ones are bounded by the number of connections: one has one answer at a time.
const MIN_COUNTED_BYTES = 16 * 1024;
const LIMITS: UnreadLimits = { maxBytes: 256 * MIB, maxBytesPerCaller: 64 * MIB };
// Slower readers are disconnected: they would occupy what their account, or all, may have.
const MIN_BYTES_PER_SECOND = 16 * 1024;
const MIN_READ_MS = 60_000;

/** Limits the memory for answers that their clients have not read yet: in all, and for each account or address. */
export class UnreadAnswers {
  readonly limits: UnreadLimits;
  readonly #bytesOf = new Map<string, number>();
  #total = 0;

  constructor(limits: UnreadLimits = LIMITS) {
    this.limits = limits;
  }

  /**
   * Whether one more answer is over a limit: that of its caller, that of all, or null. A caller without unread answers
   * may have one of any size, while there is space.
   * @param caller  id of an account, or address of a client without a key
   */
  exceeded(caller: string, bytes: number): 'caller' | 'all' | null {
    if (bytes < MIN_COUNTED_BYTES) return null;
    const { maxBytes, maxBytesPerCaller } = this.limits;
    const own = this.#bytesOf.get(caller) ?? 0;
    if (own > 0 && own + bytes > maxBytesPerCaller) return 'caller';
    return this.#total > 0 && this.#total + bytes > maxBytes ? 'all' : null;
  }

  /** Counts an answer until it is sent. Closes its connection when the client reads it more slowly than it must. */
  add(caller: string, bytes: number, answer: ServerResponse): void {
    if (bytes < MIN_COUNTED_BYTES || answer.destroyed) return;
    this.#count(caller, bytes);
    const timer = setTimeout(() => answer.destroy(), MIN_READ_MS + (bytes / MIN_BYTES_PER_SECOND) * 1_000);
    answer.once('close', () => {
      clearTimeout(timer);
      this.#count(caller, -bytes);
    });
  }

  /** Counts a part of a stream until it is disposed. */
  hold(caller: string, bytes: number): Disposable {
    const counted = bytes < MIN_COUNTED_BYTES ? 0 : bytes;
    this.#count(caller, counted);
    return { [Symbol.dispose]: () => this.#count(caller, -counted) };
  }

  #count(caller: string, bytes: number): void {
    const own = (this.#bytesOf.get(caller) ?? 0) + bytes;
    this.#total += bytes;
    if (own > 0) this.#bytesOf.set(caller, own);
    else this.#bytesOf.delete(caller);
  }
}
