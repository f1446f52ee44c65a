const JITTER = 0.1;

/**
 * The wait that the Retry-After of a 429 or 503 asks for, in ms; null without one that can be read.
 * @param value  whole seconds, or a date
 */
export function retryAfterOf(status: number, value: string | undefined, nowMs: number): number | null {
  if (value === undefined || (status !== 429 && status !== 503)) return null;
  const waitMs = /^\d{1,9}$/.test(value) ? Number(value) * 1000 : Date.parse(value) - nowMs;
  return Number.isNaN(waitMs) || waitMs < 0 ? null : waitMs;
}

/**
 * Wait before an attempt, in whole ms, counted from the end of the attempt before; null when the schedule is used up.
 * The delay is spread by plus or minus 10 %, so that deliveries which failed together do not come back together.
 * @param attempt   number of the attempt to schedule, 1 or more
 * @param delaysMs  delays before attempts 1, 2, 3, …
 * @param random    in [0, 1); 0.5 means no jitter
 * @param askedMs   what the receiver asks for: respected as far as the delay may be late
 * @throws RangeError  if attempt is not a whole number from 1
 */
export function delayBeforeAttemptMs(next: {
  attempt: number;
  delaysMs: readonly number[];
  random: number;
  askedMs?: number | null;
}): number | null {
  if (!Number.isInteger(next.attempt) || next.attempt < 1) {
    throw new RangeError(`attempt must be a whole number from 1, not ${next.attempt}`);
  }
  const delayMs = next.delaysMs[next.attempt - 1];
  if (delayMs === undefined) return null;
  const latestMs = delayMs * (1 + JITTER);
  const earliestMs = Math.min(next.askedMs ?? 0, latestMs);
  return Math.round(Math.max(delayMs * (1 + JITTER * (2 * next.random - 1)), earliestMs));
}
