import { isDatabaseAway } from '../database.ts';

/**
 * A pass over rows of which one may fail without keeping the others from their turn. `end` rejects with what failed, so
 * that the pass is reported; the next one finds those rows again. A database that is away ends the pass at once.
 */
export class RowPass {
  readonly #failures: unknown[] = [];

  /** Works on each row, `atOnce` of them side by side. Stops between rows when the signal aborts. */
  async each<Row>(
    rows: Iterable<Row>,
    work: (row: Row) => Promise<unknown>,
    { atOnce = 1, signal }: { atOnce?: number; signal?: AbortSignal | undefined } = {},
  ): Promise<void> {
    const all = [...rows];
    for (let start = 0; start < all.length && !signal?.aborted; start += atOnce) {
      const done = await Promise.allSettled(all.slice(start, start + atOnce).map(async (row) => await work(row)));
      for (const one of done) if (one.status === 'rejected') this.#failed(one.reason);
    }
  }

  /** @throws the failure of a row; an AggregateError where there are several */
  end(): void {
    if (this.#failures.length > 1) throw new AggregateError(this.#failures, `${this.#failures.length} rows failed`);
    if (this.#failures.length === 1) throw this.#failures[0];
  }

  #failed(cause: unknown): void {
    if (isDatabaseAway(cause)) throw cause;
    this.#failures.push(cause);
  }
}

/**
 * Where the next pass over rows begins: behind the page of the pass before, and after the last page at the start again.
 * Rows that fail for ever, or that stay for a while, so keep no others from their turn.
 */
export class PassCursor<Row> {
  readonly #limit: number;
  #after: Row | null = null;

  /** @param limit  rows of a page */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** @param read  gives at most `limit` rows behind `after`, in an order that does not change */
  async next(read: (page: { after: Row | null; limit: number }) => Promise<Row[]>): Promise<Row[]> {
    const rows = await read({ after: this.#after, limit: this.#limit });
    this.#after = rows.length === this.#limit ? rows.at(-1)! : null;
    return rows;
  }
}
