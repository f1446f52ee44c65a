import type { IdPrefix } from '../rules/ids.ts';
import { isId } from '../rules/ids.ts';
import { ApiError } from './api-error.ts';
import { Type } from './schema.ts';

const MAX_PAGE_ROWS = 100;
const DEFAULT_PAGE_ROWS = 20;
const CURSOR_ADVICE = 'is not one of this list; pass on the next_cursor of the page before';

/** The query fields of every list, to be combined with filters: `Type.Object({ ...pageFields, status: … })`. */
export const pageFields = {
  limit: Type.Integer({
    minimum: 1,
    maximum: MAX_PAGE_ROWS,
    default: DEFAULT_PAGE_ROWS,
    description: 'How many rows at most.',
  }),
  cursor: Type.Optional(
    Type.String({
      pattern: '^([a-z]+_[0-9a-hjkmnp-tv-z]{26}|[0-9]{1,15})$',
      errorMessage: CURSOR_ADVICE,
      description: '`next_cursor` of the page before; absent for the newest. Opaque.',
    }),
  ),
};

/** The query of a list without filters. */
export const pageQuery = Type.Object(pageFields);

/**
 * The id of a cursor: the page continues with `id < $cursor order by id desc`, since ids sort by time and never change. Null
 * for the first page.
 * @param prefix  of the ids that this list is ordered by
 * @throws ApiError  400 for the cursor of another list
 */
export function decodeCursor(prefix: IdPrefix, cursor: string | undefined): string | null {
  if (cursor === undefined) return null;
  if (isId(prefix, cursor)) return cursor;
  throw notOfThisList();
}

/**
 * The number of a cursor of a list that is ordered by a number; null for the first page.
 * @throws ApiError  400 for the cursor of another list
 */
export function decodeNumberCursor(cursor: string | undefined): number | null {
  if (cursor === undefined) return null;
  if (/^[0-9]{1,15}$/.test(cursor)) return Number(cursor);
  throw notOfThisList();
}

function notOfThisList(): ApiError {
  return new ApiError('invalid_request', `cursor ${CURSOR_ADVICE}.`, { param: 'cursor' });
}

export type Page<Item> = { data: Item[]; has_more: boolean; next_cursor: string | null };

/**
 * The answer of a list.
 * @param rows  at most `limit + 1`, newest first: the last one only shows that there are more
 * @param show  turns a row into an item of the answer
 * @param cursorOf  the cursor for the rows that follow a row; by default its id
 */
export function pageOf<Row extends { id: string }, Item>(
  rows: Row[],
  limit: number,
  show: (row: Row) => Item,
  cursorOf: (row: Row) => string = ({ id }) => id,
): Page<Item> {
  const shown = rows.slice(0, limit);
  const hasMore = rows.length > limit;
  return {
    data: shown.map(show),
    has_more: hasMore,
    next_cursor: hasMore ? cursorOf(shown.at(-1)!) : null,
  };
}
