import { parseTime } from '../rules/time.ts';
import { ApiError } from './api-error.ts';
import { DOCUMENTED, Type } from './schema.ts';

const MAX_TIME_CHARS = 40;

/**
 * The schema of a time in a request, which `readTime` reads:
 * clients should send a time, a day (in UTC) is accepted too.
 */
export function timeParameter(description?: string) {
  const documented = { [DOCUMENTED]: { format: 'date-time' } };
  return Type.String({ maxLength: MAX_TIME_CHARS, ...(description && { description }), ...documented });
}

/**
 * The time of a field or query parameter; null when it is absent.
 * @throws ApiError  400, unless the text is ISO 8601
 */
export function readTime(param: string, text: string | null | undefined): Date | null {
  if (text === null || text === undefined) return null;
  const time = parseTime(text);
  if (time) return time;
  throw new ApiError('invalid_request', `${param} must be an ISO 8601 time such as 2026-11-21T09:30:00Z.`, { param });
}

/**
 * The times of two fields or query parameters that bound a range; null where one is absent.
 * @param names  of the fields in `values`, the earlier time first
 * @throws ApiError  400, unless each is ISO 8601, and the second is not earlier than the first
 */
export function readTimeRange<Name extends string>(
  [first, last]: readonly [Name, Name],
  values: Readonly<Partial<Record<Name, string>>>,
): [first: Date | null, last: Date | null] {
  const [from, to] = [readTime(first, values[first]), readTime(last, values[last])];
  if (from === null || to === null || from <= to) return [from, to];
  throw new ApiError('invalid_request', `${last} must not be earlier than ${first}.`, { param: last });
}
