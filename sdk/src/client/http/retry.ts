const RETRYABLE = [408, 429, 500, 502, 503, 504];
const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 8_000;
const LONGEST_RETRY_AFTER_MS = 60_000;

/**
 * Whether a request that was answered so may succeed when it is repeated. A 409 asks for a repetition only when a
 * request with the same Idempotency-Key is still in progress; then it says when.
 */
export function isRetryableStatus(status: number, hasRetryAfter: boolean): boolean {
  return RETRYABLE.includes(status) || (status === 409 && hasRetryAfter);
}

/** The wait that a Retry-After header asks for, in milliseconds; null without one. Seconds, or a date. */
export function readRetryAfter(value: string | null, nowMs: number): number | null {
  if (value === null) return null;
  const waitMs = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - nowMs;
  return Number.isNaN(waitMs) ? null : Math.max(0, waitMs);
}

/**
 * Delay before the next attempt, in milliseconds; null when the error is final, or the service asks for more than 60 s.
 * Without Retry-After: 0.5 s, 1 s, 2 s … up to 8 s, less up to a quarter.
 * @param attempt  how many attempts failed before this one
 * @param random   in [0, 1)
 */
export function retryDelayMs(
  error: { isRetryable: boolean; retryAfterMs: number | null },
  attempt: number,
  random: number,
): number | null {
  if (!error.isRetryable) return null;
  if (error.retryAfterMs !== null) return error.retryAfterMs > LONGEST_RETRY_AFTER_MS ? null : error.retryAfterMs;
  return Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** attempt) * (1 - random / 4);
}
