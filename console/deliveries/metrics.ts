import type { WebhookMetrics, WebhookMetricsInterval } from '#sdk/api.ts';

/** Spans of time that the console offers, each with the width of its buckets. */
export const SPANS = {
  '1h': { label: '1 hour', bucket: 'minute', ms: 3_600_000 },
  '24h': { label: '24 hours', bucket: 'hour', ms: 86_400_000 },
  '7d': { label: '7 days', bucket: 'hour', ms: 7 * 86_400_000 },
  '30d': { label: '30 days', bucket: 'day', ms: 30 * 86_400_000 },
} as const;
export type Span = keyof typeof SPANS;

/** Parameters of GET /v1/webhooks/:id/metrics for a span that ends now. */
export function metricsQuery(span: Span, nowMs: number): { from: string; bucket: WebhookMetrics['bucket'] } {
  return { from: new Date(nowMs - SPANS[span].ms).toISOString(), bucket: SPANS[span].bucket };
}

type Totals = {
  attempts: number;
  succeeded: number;
  failed: number;
  dropped: number;
  /** In [0, 1]; null without attempts. */
  successRate: number | null;
  /**
   * The highest 95th percentile of a bucket, in ms: percentiles of buckets cannot be added up. Null without attempts.
   */
  highestP95Ms: number | null;
  /** Failures by reason, the most frequent first. */
  reasons: { reason: string; failures: number }[];
};

/** The figures of all buckets together. */
export function totalsOf(buckets: readonly WebhookMetricsInterval[]): Totals {
  const sum = (field: 'attempts' | 'succeeded' | 'failed' | 'dropped') =>
    buckets.reduce((total, bucket) => total + bucket[field], 0);
  const reasons = new Map<string, number>();
  for (const bucket of buckets)
    for (const [reason, failures = 0] of Object.entries(bucket.reasons))
      reasons.set(reason, (reasons.get(reason) ?? 0) + failures);
  const p95s = buckets.flatMap(({ p95_ms }) => p95_ms ?? []);
  const attempts = sum('attempts');
  return {
    attempts,
    succeeded: sum('succeeded'),
    failed: sum('failed'),
    dropped: sum('dropped'),
    successRate: attempts === 0 ? null : sum('succeeded') / attempts,
    highestP95Ms: p95s.length === 0 ? null : Math.max(...p95s),
    reasons: [...reasons]
      .map(([reason, failures]) => ({ reason, failures }))
      .sort((left, right) => right.failures - left.failures || (left.reason < right.reason ? -1 : 1)),
  };
}

/** A share in percent that is 100 or 0 only when it is exact: 99.96 % is shown as 99.9 %. Null: no attempts. */
export function percent(share: number | null): string {
  if (share === null) return '–';
  const tenths = Math.floor(share * 1000 + 1e-9);
  if (share > 0 && tenths === 0) return '<0.1 %';
  return tenths % 10 === 0 ? `${tenths / 10} %` : `${(tenths / 10).toFixed(1)} %`;
}
