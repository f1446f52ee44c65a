import type { Page } from '../../wire.ts';

/**
 * A list: `await` it for its first page, or iterate over it for its items. Pages are read when they are needed.
 */
export class Pages<Item> implements PromiseLike<Page<Item>>, AsyncIterable<Item> {
  readonly #read: (cursor: string | null) => Promise<Page<Item>>;
  #first: Promise<Page<Item>> | null = null;

  /** @param read  the page at a cursor; null: the first */
  constructor(read: (cursor: string | null) => Promise<Page<Item>>) {
    this.#read = read;
  }

  // biome-ignore lint/suspicious/noThenProperty: awaiting the list reads its first page
  then<Left = Page<Item>, Right = never>(
    onPage?: ((page: Page<Item>) => Left | PromiseLike<Left>) | null,
    onError?: ((error: unknown) => Right | PromiseLike<Right>) | null,
  ): Promise<Left | Right> {
    this.#first ??= this.#read(null);
    return this.#first.then(onPage, onError);
  }

  async *pages(): AsyncGenerator<Page<Item>> {
    for (let page = await this.then(); ; page = await this.#read(page.next_cursor)) {
      yield page;
      if (page.next_cursor === null) return;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item> {
    for await (const { data } of this.pages()) yield* data;
  }

  /** The first items, at most `limit` of them. */
  async toArray({ limit }: { limit: number }): Promise<Item[]> {
    const items: Item[] = [];
    if (limit <= 0) return items;
    for await (const item of this) if (items.push(item) >= limit) break;
    return items;
  }
}

/** A page as CSV, with the line of names, and the cursor of the next one. */
export type CsvPage = { text: string; cursor: string | null };

/** A list that the service writes as CSV too. */
export class CsvPages<Item> extends Pages<Item> {
  readonly #readCsv: (cursor: string | null) => Promise<CsvPage>;

  constructor(
    read: (cursor: string | null) => Promise<Page<Item>>,
    readCsv: (cursor: string | null) => Promise<CsvPage>,
  ) {
    super(read);
    this.#readCsv = readCsv;
  }

  /** The whole list as CSV (RFC 4180) page by page, with one line of names. */
  async *csv(): AsyncGenerator<string> {
    for (let page = await this.#readCsv(null), isFirst = true; ; isFirst = false) {
      yield isFirst ? page.text : page.text.slice(page.text.indexOf('\r\n') + 2);
      if (page.cursor === null) return;
      page = await this.#readCsv(page.cursor);
    }
  }
}
