import { parseTime } from '../rules/time.ts';
import { ApiError } from './api-error.ts';

/**
 * The time that a parameter names; null when the parameter is absent.
 * @throws ApiError  400, also for a leap second, which `Date` does not represent
 */
export function readTime(param: string, text: string | undefined): Date | null {
  if (text === undefined) return null;
  const time = parseTime(text);
  if (time) return time;
  throw new ApiError('invalid_request', `${param} must be an ISO 8601 time such as 2026-11-21T09:30:00Z.`, { param });
}
