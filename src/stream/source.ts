import type { TimePlace } from '../webhooks/events/stream-store.ts';

/** A row of a topic. */
export type Row = TimePlace & {
  /** `at` in milliseconds. */
  atMs: number;
};

/** The rows of a topic of one account, in the order of a time that is set when they are written. */
export type Source<R extends Row> = {
  /** The account, the topic and what is left out: sources of one name have the same rows. */
  name: string;
  /** Rows after a place, oldest first, at most `limit`. */
  page(after: TimePlace, limit: number): Promise<R[]>;
  /** How many of them make a page, where there are more. Absent: `limit`. */
  countOfPage?(rows: R[]): number;
  /** Tells the row from others, and from earlier states of itself. */
  keyOf(row: R): string;
  /** The frames of rows, each with its row, in order. May leave out rows that are no longer kept. */
  frames(rows: R[]): AsyncIterable<{ row: R; frame: Frame }>;
};

/** A server-sent event without its id. */
export type Frame = { event: string; id: string | null; data: unknown };

const PAGE_ROWS = 500;

/** What a stream has sent, or may leave out, with the time of each row. Forgets what it is not asked for again. */
export class Seen {
  readonly #times = new Map<string, number>();

  has(key: string): boolean {
    return this.#times.has(key);
  }

  add(key: string, atMs: number): void {
    this.#times.set(key, atMs);
  }

  /** Forgets rows of earlier times: the stream does not read them again. */
  forgetBefore(timeMs: number): void {
    for (const [key, atMs] of this.#times) if (atMs < timeMs) this.#times.delete(key);
  }
}

/** The unseen rows from a time on, with their frames. Reads page by page, as fast as it is consumed. */
export async function* unseenRows<R extends Row>(
  source: Source<R>,
  fromMs: number,
  seen: Seen,
): AsyncGenerator<{ row: R; key: string; frame: Frame }> {
  for await (const rows of pages(source, fromMs)) {
    const unseen = rows.filter((row) => !seen.has(source.keyOf(row)));
    for await (const { row, frame } of source.frames(unseen)) yield { row, key: source.keyOf(row), frame };
  }
}

/** Marks all rows from a time on as seen. */
export async function markSeen<R extends Row>(source: Source<R>, fromMs: number, seen: Seen): Promise<void> {
  for await (const rows of pages(source, fromMs)) for (const row of rows) seen.add(source.keyOf(row), row.atMs);
}

async function* pages<R extends Row>(source: Source<R>, fromMs: number): AsyncGenerator<R[]> {
  let after: TimePlace = { at: new Date(fromMs).toISOString(), id: '' };
  while (true) {
    const rows = await source.page(after, PAGE_ROWS);
    const count = source.countOfPage?.(rows) ?? rows.length;
    const page = rows.slice(0, count);
    yield page;
    if (count === rows.length && count < PAGE_ROWS) return;
    after = page.at(-1)!;
  }
}

/** The items of several lists, each in the order of time, in the order of time. */
export async function* mergeByTime<Item extends { row: Row }>(lists: AsyncGenerator<Item>[]): AsyncGenerator<Item> {
  const heads = await Promise.all(lists.map(async (list) => ({ list, item: await list.next() })));
  while (true) {
    const left = heads.filter(({ item }) => !item.done);
    if (left.length === 0) return;
    const first = left.reduce((one, other) => (timeOf(other.item) < timeOf(one.item) ? other : one));
    yield first.item.value as Item;
    first.item = await first.list.next();
  }
}

function timeOf(item: IteratorResult<{ row: Row }>): number {
  return (item.value as { row: Row }).row.atMs;
}
