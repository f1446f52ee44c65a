/** A webhook's run of failed attempts since its last success. */
type Streak = {
  consecutiveFailures: number;
  /** When the first failed attempt of the streak was recorded; null when there is none. */
  failingSinceMs: number | null;
};

/** A webhook is disabled when both are reached: this many failures, over at least this long. */
export type DisableBounds = { disableFailures: number; disableMs: number };

export type StreakVerdict = 'keep' | 'warn' | 'disable';

// At 5, 7 and 9 of 10 failures.
const WARN_AT = [0.5, 0.7, 0.9];

/** What follows for a webhook from a failed attempt; evaluated once per attempt, after it was counted. */
function evaluateStreak(streak: Streak & DisableBounds & { nowMs: number }): StreakVerdict {
  const { consecutiveFailures, failingSinceMs, nowMs, disableFailures, disableMs } = streak;
  if (failingSinceMs === null || consecutiveFailures < 1) return 'keep';
  if (consecutiveFailures >= disableFailures && nowMs - failingSinceMs >= disableMs) return 'disable';
  const isWarning = WARN_AT.some((share) => Math.ceil(share * disableFailures) === consecutiveFailures);
  return isWarning && consecutiveFailures < disableFailures ? 'warn' : 'keep';
}

/**
 * The streak after attempts that are recorded together. A success ends it, and takes back what the failures before it
 * would have led to.
 * @param outcomes  whether each attempt succeeded, in the order in which they ended
 */
export function streakAfter(
  before: Streak,
  outcomes: readonly boolean[],
  bounds: DisableBounds & { nowMs: number },
): Streak & { verdict: StreakVerdict } {
  let { consecutiveFailures, failingSinceMs } = before;
  let verdict: StreakVerdict = 'keep';
  for (const succeeded of outcomes) {
    consecutiveFailures = succeeded ? 0 : consecutiveFailures + 1;
    failingSinceMs = succeeded ? null : (failingSinceMs ?? bounds.nowMs);
    const next = evaluateStreak({ ...bounds, consecutiveFailures, failingSinceMs });
    if (succeeded || next !== 'keep') verdict = next;
  }
  return { consecutiveFailures, failingSinceMs, verdict };
}
