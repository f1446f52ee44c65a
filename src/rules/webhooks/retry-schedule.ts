const JITTER = 0.1;

/**
 * Wait before an attempt, in whole ms, counted from the end of the attempt before; null when the schedule is used up.
 * The delay is spread by plus or minus 10 %, so that deliveries which failed together do not come back together.
 * @param attempt   number of the attempt to schedule, 1 or more
 * @param delaysMs  delays before attempts 1, 2, 3, …
 * @param random    in [0, 1); 0.5 means no jitter
 * @throws RangeError  if attempt is not a whole number from 1
 */
export function delayBeforeAttemptMs(next: {
  attempt: number;
  delaysMs: readonly number[];
  random: number;
}): number | null {
  if (!Number.isInteger(next.attempt) || next.attempt < 1) {
    throw new RangeError(`attempt must be a whole number from 1, not ${next.attempt}`);
  }
  const delayMs = next.delaysMs[next.attempt - 1];
  if (delayMs === undefined) return null;
  return Math.round(delayMs * (1 + JITTER * (2 * next.random - 1)));
}
