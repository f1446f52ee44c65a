import { createHash } from 'node:crypto';
import type { IdPrefix } from '../rules/ids.ts';
import { ApiError } from './api-error.ts';
import type { Answer, Call, Route } from './route.ts';
import { Type } from './schema.ts';

const MAX_PAGE_ROWS = 100;
const DEFAULT_PAGE_ROWS = 20;

// A client's cursor begins with this number of hexadecimal digits: a hash of the list, its owner and its filters.
const LIST_HASH_CHARS = 16;

const CURSOR_ADVICE =
  'is not one of this list with these filters; pass on the next_cursor of the page before, with the same parameters';

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
      pattern: `^[0-9a-f]{${LIST_HASH_CHARS}}[0-9a-hjkmnp-tv-z]{26}$`,
      errorMessage: CURSOR_ADVICE,
      description:
        '`next_cursor` of the page before, of this list with the same filters; absent for the newest. Opaque.',
    }),
  ),
};

/** The query of a list without filters. */
export const pageQuery = Type.Object(pageFields);

/**
 * The cursor for the rows that follow (are older than) the row with this id: the id without its prefix. Ids sort by
 * time and never change. `withListCursors` adds the hash of the list.
 */
export function encodeCursor(id: string): string {
  return id.slice(id.indexOf('_') + 1);
}

/**
 * The id of a cursor: the page continues with `id < $cursor order by id desc`. Null for the first page.
 * @param prefix  of the ids that this list is ordered by
 * @param cursor  as `encodeCursor` made it
 */
export function decodeCursor(prefix: IdPrefix, cursor: string | undefined): string | null {
  return cursor === undefined ? null : `${prefix}_${cursor}`;
}

// In hexadecimal, as long as an id; 13 digits are below 2^53.
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
  throw otherList();
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

type ListCall = Call<unknown, Record<string, unknown>, unknown>;

/**
 * The route's handler. That of a list gets and returns positions; clients get them after a hash of the list, of its
 * owner and of its filters.
 * @throws ApiError  400 for a cursor of another list, of other filters or of another account
 */
export function withListCursors({ path, schema, handle }: Route): Route['handle'] {
  const { properties = {} } = (schema.query ?? {}) as { properties?: object };
  if (!('cursor' in properties)) return handle;
  return async (call: ListCall) => {
    const { cursor, limit, format, ...filters } = call.query;
    const list = hashOf([path, call.account?.id ?? null, call.params, filters]);
    if (cursor === undefined) return addHash(await handle(call), list);
    const position = (cursor as string).slice(LIST_HASH_CHARS);
    if (cursor !== list + position) throw otherList();
    return addHash(await handle({ ...call, query: { ...call.query, cursor: position } }), list);
  };
}

/** The answer as JSON or CSV, with the hash before the cursor of the next page. */
function addHash(answer: Answer, list: string): Answer {
  const page = answer.body as { next_cursor?: string | null } | string;
  if (typeof page === 'object' && page.next_cursor) {
    return { ...answer, body: { ...page, next_cursor: list + page.next_cursor } };
  }
  const next = answer.headers?.['x-next-cursor'];
  return next === undefined ? answer : { ...answer, headers: { ...answer.headers, 'x-next-cursor': list + next } };
}

/** The same for equal values, whatever the order of their fields. */
function hashOf(value: unknown): string {
  const text = JSON.stringify(value, (_name, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
  return createHash('sha256').update(text).digest('hex').slice(0, LIST_HASH_CHARS);
}

function otherList(): ApiError {
  return new ApiError('invalid_request', `cursor ${CURSOR_ADVICE}.`, { param: 'cursor' });
}
