import { ApiError } from '../errors.ts';
import type { IdPrefix } from '../rules/ids.ts';
import { isId } from '../rules/ids.ts';
import { Type } from './schema.ts';

const MAX_PAGE_ROWS = 100;
const DEFAULT_PAGE_ROWS = 20;

/** The query fields of every list; spread them beside a list's own filters: `Type.Object({ ...pageFields, status: … })`. */
export const pageFields = {
  limit: Type.Integer({
    minimum: 1,
    maximum: MAX_PAGE_ROWS,
    default: DEFAULT_PAGE_ROWS,
    description: 'How many rows at most.',
  }),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: '`next_cursor` of the page before; absent for the newest.',
    }),
  ),
};

/** The query of a list without filters. */
export const pageQuery = Type.Object(pageFields);

/** An opaque cursor for the rows after (older than) the one with this id. Ids sort by time, and rows never change theirs. */
export function encodeCursor(id: string): string {
  return Buffer.from(id).toString('base64url');
}

/**
 * The id that a cursor stands for: the list goes on with `id < $cursor order by id desc`. Null for the first page.
 * @param prefix  the kind of id that this list is ordered by
 * @throws ApiError  400 `invalid_request`, param `cursor`, for anything that this list did not give out
 */
export function decodeCursor(prefix: IdPrefix, cursor: string | undefined): string | null {
  if (cursor === undefined) return null;
  const id = Buffer.from(cursor, 'base64url').toString('latin1');
  if (isId(prefix, id) && encodeCursor(id) === cursor) return id;
  throw new ApiError('invalid_request', 'cursor is not one of this list; pass on the next_cursor of the page before.', {
    param: 'cursor',
  });
}

export type Page<Item> = { data: Item[]; has_more: boolean; next_cursor: string | null };

/**
 * The answer of a list. Ask the store for `limit + 1` rows, newest first: the one too many tells that there are more.
 * @param show  turns a row into what the API shows
 */
export function pageOf<Row extends { id: string }, Item>(
  rows: Row[],
  limit: number,
  show: (row: Row) => Item,
): Page<Item> {
  const shown = rows.slice(0, limit);
  const hasMore = rows.length > limit;
  return {
    data: shown.map(show),
    has_more: hasMore,
    next_cursor: hasMore ? encodeCursor(shown.at(-1)!.id) : null,
  };
}
