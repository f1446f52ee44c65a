/** Why audio could not be fetched, as the job's error names it (contract section 6.1). */
export const FETCH_FAILURE_REASONS = [
  'dns',
  'connect',
  'tls',
  'timeout',
  'http_status',
  'redirect',
  'forbidden_address',
  'too_large',
] as const;
export type FetchFailureReason = (typeof FETCH_FAILURE_REASONS)[number];

/** A try that failed. `retryAfter` is the value of the header Retry-After; null without one. */
export type FetchFailure = { reason: FetchFailureReason; httpStatus: number | null; retryAfter: string | null };

/** Seconds before the second and the third try. */
const RETRY_DELAYS_SECONDS: readonly number[] = [5, 30];
const MAX_RETRY_AFTER_SECONDS = 60;
const RETRIED_STATUSES: readonly number[] = [408, 425, 429];
// A server that is refused for its certificate, its redirects or its address is refused again.
const RETRIED_REASONS: readonly FetchFailureReason[] = ['dns', 'connect', 'timeout'];

/**
 * The delay before the next try, in milliseconds; null when there is none. The header Retry-After makes it longer, up
 * to a minute.
 * @param tries  the tries so far, this one included: 1 or more
 * @param nowMs  the current time, for a Retry-After that is a date
 */
export function delayBeforeNextTryMs(
  { reason, httpStatus, retryAfter }: FetchFailure,
  { tries, nowMs }: { tries: number; nowMs: number },
): number | null {
  const delaySeconds = RETRY_DELAYS_SECONDS[tries - 1];
  if (delaySeconds === undefined || !(isRetriedStatus(httpStatus) || RETRIED_REASONS.includes(reason))) return null;
  return 1000 * Math.max(delaySeconds, Math.min(MAX_RETRY_AFTER_SECONDS, secondsOf(retryAfter, nowMs)));
}

function isRetriedStatus(status: number | null): boolean {
  return status !== null && (RETRIED_STATUSES.includes(status) || (status >= 500 && status <= 599));
}

/** Of whole seconds or of an HTTP date; 0 for anything else. */
function secondsOf(retryAfter: string | null, nowMs: number): number {
  if (retryAfter === null) return 0;
  if (/^\d{1,9}$/.test(retryAfter)) return Number(retryAfter);
  const dateMs = Date.parse(retryAfter);
  return Number.isNaN(dateMs) ? 0 : Math.max(0, (dateMs - nowMs) / 1000);
}
