import type { OwnAccount, Webhook } from '#sdk/api.ts';

/** A webhook's failed attempts in a row against the limits at which the service disables it. */
export type Streak = {
  failures: number;
  /** Failures at which it may be disabled. */
  limit: number;
  /** In [0, 1]: the share of the limit. */
  share: number;
  failingSinceMs: number;
  /** No attempt disables the webhook before this time. */
  disabledFromMs: number;
};

/** How many attempts failed; of how many, where the limit is not yet reached. */
export function streakText({ failures, limit }: Pick<Streak, 'failures' | 'limit'>): string {
  return failures < limit ? `${failures} of ${limit} failed in a row` : `${failures} failed in a row`;
}

/** Null without a streak, and while the webhook is disabled. */
export function streakOf(
  webhook: Pick<Webhook, 'active' | 'consecutive_failures' | 'failing_since'>,
  limits: Pick<OwnAccount['deliveries'], 'disable_failures' | 'disable_seconds'>,
  nowMs: number,
): Streak | null {
  const { active, consecutive_failures: failures, failing_since } = webhook;
  if (!active || failures === 0 || failing_since === null) return null;
  const failingSinceMs = Date.parse(failing_since);
  // Both bounds must be reached. Any event may bring the failures that are missing, so only the time is a bound.
  const disabledFromMs = Math.max(nowMs, failingSinceMs + 1000 * limits.disable_seconds);
  const share = Math.min(1, failures / limits.disable_failures);
  return { failures, limit: limits.disable_failures, share, failingSinceMs, disabledFromMs };
}
