/**
 * What follows for a delivery from an attempt. `end`: it succeeded, or this was the last attempt. `drop`: attempts are
 * left, but the webhook is disabled or deleted.
 */
export function afterAttempt(attempt: {
  succeeded: boolean;
  /** Null when no attempt is left. */
  retryAfterMs: number | null;
  isWebhookActive: boolean;
}): 'end' | 'retry' | 'drop' {
  if (attempt.succeeded || attempt.retryAfterMs === null) return 'end';
  return attempt.isWebhookActive ? 'retry' : 'drop';
}
