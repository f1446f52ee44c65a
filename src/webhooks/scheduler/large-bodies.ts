/** @property bodyBytes  size of the body that must be read and kept in memory while the attempt is in flight */
type Large = { shard: number; accountId: string; bodyBytes: number };

// Of all bodies that are read and in flight. Small ones, at most 8 KiB each, are bounded by the attempts in flight.
const MAX_BYTES = 128 * 1024 * 1024;
// An account may have so much of what is free: alone 25 MiB, beside nine such accounts 9 MiB.
// Some always remains for others.
const SHARE_OF_FREE = 1 / 4;
// Of one statement: the database sends them in about 10 ms.
const MAX_BYTES_PER_READ = 2 * 1024 * 1024;

/**
 * Started attempts with a large body, which wait until their bodies may be read into memory: one of each account in
 * turn, while the account has less than its share of the bytes in flight.
 */
export class LargeBodies<Attempt extends { delivery: Large }> {
  /** By account; the account that took its turn last is the last one. */
  readonly #waiting = new Map<string, Attempt[]>();
  readonly #bytes = new Map<string, number>();
  #total = 0;

  add(attempt: Attempt): void {
    const { accountId } = attempt.delivery;
    const waiting = this.#waiting.get(accountId);
    if (waiting) waiting.push(attempt);
    else this.#waiting.set(accountId, [attempt]);
  }

  /** The attempts whose bodies are read next; in flight until `ended`. */
  take(): Attempt[] {
    const taken: Attempt[] = [];
    let freeBytes = MAX_BYTES_PER_READ;
    // An account that is put last again is visited again.
    for (const [accountId, waiting] of this.#waiting) {
      const { bodyBytes } = waiting[0]!.delivery;
      if (bodyBytes > freeBytes && taken.length > 0) break;
      if (!this.#hasSpace(accountId, bodyBytes)) continue;
      freeBytes -= bodyBytes;
      taken.push(waiting.shift()!);
      this.#add(accountId, bodyBytes);
      this.#waiting.delete(accountId);
      if (waiting.length > 0) this.#waiting.set(accountId, waiting);
    }
    return taken;
  }

  /** The body is not in memory any more. */
  ended({ accountId, bodyBytes }: Large): void {
    this.#add(accountId, -bodyBytes);
  }

  /** Removes those that wait and match. */
  remove(matches: (delivery: Attempt['delivery']) => boolean): Attempt[] {
    const removed: Attempt[] = [];
    for (const [accountId, waiting] of [...this.#waiting]) {
      const kept = waiting.filter((attempt) => !matches(attempt.delivery) || !removed.push(attempt));
      if (kept.length > 0) this.#waiting.set(accountId, kept);
      else this.#waiting.delete(accountId);
    }
    return removed;
  }

  /** An account without a body in memory may have one of any size, while there is space. */
  #hasSpace(accountId: string, bytes: number): boolean {
    const own = this.#bytes.get(accountId) ?? 0;
    const free = MAX_BYTES - this.#total;
    return bytes <= free && (own === 0 || own + bytes <= free * SHARE_OF_FREE);
  }

  #add(accountId: string, bytes: number): void {
    const own = (this.#bytes.get(accountId) ?? 0) + bytes;
    this.#total += bytes;
    if (own === 0) this.#bytes.delete(accountId);
    else this.#bytes.set(accountId, own);
  }
}
