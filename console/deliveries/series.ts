import type { WebhookMetricsInterval } from '#sdk/api.ts';
import type { Series } from '../charts/series.ts';
import { totalsOf } from './metrics.ts';

/** Attempts by outcome. */
export function outcomeSeries(buckets: readonly WebhookMetricsInterval[]): Series {
  return {
    names: ['Succeeded', 'Failed', 'Dropped'],
    columns: [
      times(buckets),
      ...(['succeeded', 'failed', 'dropped'] as const).map((field) => buckets.map((bucket) => bucket[field])),
    ],
  };
}

// More colours are not told apart.
const MAX_REASONS = 5;

/** Failures by reason: the most frequent ones, and all others together. */
export function reasonSeries(buckets: readonly WebhookMetricsInterval[], titleOf: (reason: string) => string): Series {
  const reasons = totalsOf(buckets).reasons.map(({ reason }) => reason);
  const shown = reasons.slice(0, reasons.length > MAX_REASONS ? MAX_REASONS - 1 : MAX_REASONS);
  const count = (bucket: WebhookMetricsInterval, reason: string) =>
    bucket.reasons[reason as keyof WebhookMetricsInterval['reasons']] ?? 0;
  const columns = shown.map((reason) => buckets.map((bucket) => count(bucket, reason)));
  const isCut = shown.length < reasons.length;
  const others = buckets.map((bucket) => bucket.failed - shown.reduce((sum, reason) => sum + count(bucket, reason), 0));
  return {
    names: [...shown.map(titleOf), ...(isCut ? ['Other'] : [])],
    columns: [times(buckets), ...columns, ...(isCut ? [others] : [])],
  };
}

/** Durations; null where no attempt ended, which leaves a gap in the line. */
export function durationSeries(buckets: readonly WebhookMetricsInterval[]): Series {
  return {
    names: ['Median', '95th percentile'],
    columns: [times(buckets), buckets.map(({ p50_ms }) => p50_ms), buckets.map(({ p95_ms }) => p95_ms)],
  };
}

function times(buckets: readonly WebhookMetricsInterval[]): number[] {
  return buckets.map(({ start }) => Date.parse(start) / 1000);
}
