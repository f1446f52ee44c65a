import type { Command } from 'commander';
import type { CsvPages, Pages } from '#sdk/client/index.ts';
import type { Session } from './command.ts';
import { wholeNumber } from './options.ts';
import type { Part } from './terminal/part.ts';

/** The options of a command that shows a list. */
export type ListOptions = { limit?: number; cursor?: string; all?: boolean };

/** Those of a list that the service writes as CSV too. */
export type CsvListOptions = ListOptions & { csv?: boolean };

/** How a list is shown: the lines of some of its entries, and what --quiet prints of one. */
type View<Item> = { show(items: Item[]): void; id(item: Item): string; empty: string };
type TableView<Item> = { head: string[]; row(item: Item): Part[]; id(item: Item): string; empty: string };

/** Adds --limit, --cursor and --all. */
export function addListOptions(command: Command): Command {
  return command
    .option('--limit <number>', 'entries of a page, 1 to 100', wholeNumber)
    .option('--cursor <cursor>', 'begin at this page: next_cursor of the one before')
    .option('--all', 'show all pages');
}

/** Adds --csv. */
export function addCsvOption(command: Command): Command {
  return command.option('--csv', 'all entries as CSV');
}

/** The options that select a page, as the API names them. */
export function pageOf({ limit, cursor, all, csv }: CsvListOptions): { limit?: number; cursor?: string } {
  return { limit: limit ?? (all || csv ? 100 : undefined), cursor };
}

/** Shows a page of a list in a table, or with --all every entry, or with --csv the list as CSV. */
export async function showCsvList<Item>(
  session: Session,
  options: CsvListOptions,
  list: CsvPages<Item>,
  view: TableView<Item>,
): Promise<void> {
  if (!options.csv) return await showList(session, options, list, view);
  for await (const text of list.csv()) {
    session.out.file(text);
    await session.out.drained(session.io.signal);
  }
}

/** Shows a page of a list in a table, or with --all every entry. */
export async function showList<Item>(
  session: Session,
  options: ListOptions,
  list: Pages<Item>,
  { head, row, ...view }: TableView<Item>,
): Promise<void> {
  let shownHead = head;
  const show = (items: Item[]) => {
    session.out.table(shownHead, items.map(row));
    // Of all pages, the first has the head.
    shownHead = [];
  };
  await showResults(session, options, list, { ...view, show });
}

/** Shows a page of a list, or with --all every entry. */
export async function showResults<Item>(
  { out, io, answer }: Session,
  { all }: ListOptions,
  list: Pages<Item>,
  view: View<Item>,
): Promise<void> {
  const show = (items: Item[]) => {
    if (out.mode === 'ids') for (const item of items) out.line(view.id(item));
    else if (out.mode === 'json') for (const item of (answer() as { data: unknown[] }).data) out.jsonLine(item);
    else if (items.length > 0) view.show(items);
  };
  if (!all) {
    const page = await list;
    if (out.mode === 'json') return out.json(answer());
    show(page.data);
    if (page.has_more) out.note({ text: `More: --all, or --cursor ${page.next_cursor}`, style: 'dim' });
    else if (page.data.length === 0) out.note(view.empty);
    return;
  }
  let count = 0;
  for await (const { data } of list.pages()) {
    show(data);
    count += data.length;
    // The reader of the output may be gone, or may read slowly.
    await out.drained(io.signal);
  }
  if (count === 0 && out.mode === 'text') out.note(view.empty);
}
