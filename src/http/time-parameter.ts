import { parseTime } from '../rules/time.ts';
import { ApiError } from './api-error.ts';

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
