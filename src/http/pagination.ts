import type { IdPrefix } from '../rules/ids.ts';
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
      pattern: '^[0-9a-hjkmnp-tv-z]{26}$',
      errorMessage: CURSOR_ADVICE,
      description: '`next_cursor` of the page before; absent for the newest. Opaque.',
    }),
  ),
};

/** The query of a list without filters. */
export const pageQuery = Type.Object(pageFields);

/**
 * The cursor for the rows that follow (are older than) the row with this id: the id without its prefix. Ids sort by time
 * and never change.
 */
export function encodeCursor(id: string): string {
  return id.slice(id.indexOf('_') + 1);
}

/**
 * The id of a cursor: the page continues with `id < $cursor order by id desc`. Null for the first page.
 * @param prefix  of the ids that this list is ordered by
 * @param cursor  matches the pattern in `pageFields`
 */
export function decodeCursor(prefix: IdPrefix, cursor: string | undefined): string | null {
  return cursor === undefined ? null : `${prefix}_${cursor}`;
}

// Digits of the pattern in `pageFields`, in hexadecimal; 13 of them are below 2^53.
const NUMBER_CURSOR = /^0{13}([0-9a-f]{13})$/;

/** The cursor for the rows that follow the row with this number, in a list that is ordered by a number from 0. */
export function encodeNumberCursor(number: number): string {
  return number.toString(16).padStart(26, '0');
}

/**
 * The number of such a cursor; null for the first page.
 * @throws ApiError  400
 */
export function decodeNumberCursor(cursor: string | undefined): number | null {
  if (cursor === undefined) return null;
  const digits = NUMBER_CURSOR.exec(cursor)?.[1];
  if (digits !== undefined) return Number.parseInt(digits, 16);
  throw new ApiError('invalid_request', `cursor ${CURSOR_ADVICE}.`, { param: 'cursor' });
}

export type Page<Item> = { data: Item[]; has_more: boolean; next_cursor: string | null };

/**
 * The answer of a list.
 * @param rows  at most `limit + 1`, newest first: the last one only shows that there are more
 * @param show  turns a row into an item of the answer
 * @param cursorOf  the cursor for the rows that follow a row; by default made of its id
 */
export function pageOf<Row extends { id: string }, Item>(
  rows: Row[],
  limit: number,
  show: (row: Row) => Item,
  cursorOf: (row: Row) => string = ({ id }) => encodeCursor(id),
): Page<Item> {
  const shown = rows.slice(0, limit);
  const hasMore = rows.length > limit;
  return {
    data: shown.map(show),
    has_more: hasMore,
    next_cursor: hasMore ? cursorOf(shown.at(-1)!) : null,
  };
}
