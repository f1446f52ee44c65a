import { Fifo } from './fifo.ts';

/**
 * The reads of the database in progress, and the ids whose rows their answers may still contain although memory has
 * processed the rows since. Such an id is kept as a tombstone until each read that began before has ended.
 */
export class ReadLog {
  #last = 0;
  /** In the order of their begin. */
  readonly #open = new Set<number>();
  /** The number of the last read whose answer is too old for the id. */
  readonly #tombstones = new Map<string, number>();
  readonly #order = new Fifo<{ id: string; upTo: number }>();

  /** The number of the read that began last; 0 before the first. */
  get last(): number {
    return this.#last;
  }

  begin(): number {
    this.#open.add(++this.#last);
    return this.#last;
  }

  end(read: number): void {
    this.#open.delete(read);
    const oldest = this.#oldest();
    for (let next = this.#order.peek(); next && next.upTo < oldest; next = this.#order.peek()) {
      this.#order.shift();
      if (this.#tombstones.get(next.id) === next.upTo) this.#tombstones.delete(next.id);
    }
  }

  /** Refuses the id's row in the answers of reads up to this one. */
  bury(id: string, upTo: number): void {
    if (upTo < this.#oldest() || (this.#tombstones.get(id) ?? 0) >= upTo) return;
    this.#tombstones.set(id, upTo);
    this.#order.push({ id, upTo });
  }

  isTooOld(read: number, id: string): boolean {
    return this.#tombstones.size > 0 && (this.#tombstones.get(id) ?? 0) >= read;
  }

  get tombstones(): number {
    return this.#tombstones.size;
  }

  #oldest(): number {
    for (const read of this.#open) return read;
    return Number.POSITIVE_INFINITY;
  }
}
