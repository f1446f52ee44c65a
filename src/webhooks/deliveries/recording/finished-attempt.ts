/** The result of one attempt, and what follows from it. */
export type FinishedAttempt = {
  shard: number;
  /**
   * The attempt is recorded only while its shard has this epoch: since it started, one deliverer has owned the shard.
   */
  epoch: number;
  deliveryId: string;
  /** The attempt is recorded only while the delivery waits under this id. */
  attemptId: string;
  webhookId: string;
  eventId: string;
  /** As in `WaitingDelivery`. */
  jobId: string | null;
  traceparent: string | null;
  url: string;
  attempt: number;
  succeeded: boolean;
  /** Delay before the next attempt, from now; null when there is none. */
  retryAfterMs: number | null;
  /** The id of the next attempt; null when there is none. */
  nextAttemptId: string | null;
  responseStatus: number | null;
  errorReason: string | null;
  errorMessage: string | null;
  durationMs: number;
  dnsMs: number | null;
  connectMs: number | null;
  tlsMs: number | null;
  firstByteMs: number | null;
  remoteAddress: string | null;
  /** JSON text; null when nothing was sent. */
  requestHeaders: string | null;
  responseHeaders: string | null;
  responseBody: Buffer | null;
  completedAt: Date;
  accountId: string;
  eventType: string;
};
