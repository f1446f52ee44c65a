/** A webhook's run of failed attempts since its last success, and the bounds at which it is disabled. */
type Streak = {
  consecutiveFailures: number;
  /** When the first failed attempt of the streak was recorded; null when there is none. */
  failingSinceMs: number | null;
  nowMs: number;
  /** Both bounds must be reached: this many failures … */
  disableFailures: number;
  /** … over at least this long. */
  disableMs: number;
};

// At 5, 7 and 9 of 10 failures.
const WARN_AT = [0.5, 0.7, 0.9];

/** What follows for a webhook from a failed attempt; evaluated once per attempt, after it was counted. */
export function evaluateStreak(streak: Streak): 'keep' | 'warn' | 'disable' {
  const { consecutiveFailures, failingSinceMs, nowMs, disableFailures, disableMs } = streak;
  if (failingSinceMs === null || consecutiveFailures < 1) return 'keep';
  if (consecutiveFailures >= disableFailures && nowMs - failingSinceMs >= disableMs) return 'disable';
  const isWarning = WARN_AT.some((share) => Math.ceil(share * disableFailures) === consecutiveFailures);
  return isWarning && consecutiveFailures < disableFailures ? 'warn' : 'keep';
}
