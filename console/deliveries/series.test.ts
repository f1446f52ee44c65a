import assert from 'node:assert/strict';
import test from 'node:test';
import type { WebhookMetricsInterval } from '#sdk/api.ts';
import { EMPTY_INTERVAL } from '../../test/fixtures/webhooks/empty-interval.ts';
import { durationSeries, outcomeSeries, reasonSeries } from './series.ts';

const bucket = (minute: number, part: Partial<WebhookMetricsInterval>): WebhookMetricsInterval => ({
  start: new Date(60_000 * minute).toISOString(),
  ...EMPTY_INTERVAL,
  ...part,
});

test('outcomes are counted per bucket, in seconds since the epoch', () => {
  const buckets = [bucket(1, { succeeded: 3, failed: 1 }), bucket(2, { dropped: 2 })];

  assert.deepEqual(outcomeSeries(buckets).columns, [
    [60, 120],
    [3, 0],
    [1, 0],
    [0, 2],
  ]);
});

test('reasons are those that occurred, the most frequent first, and those beyond five are one', () => {
  const few = reasonSeries([bucket(1, { failed: 3, reasons: { tls: 1, timeout: 2 } })], (reason) => reason);
  const reasons = { http_status: 9, redirect: 8, timeout: 7, dns: 6, connect: 2, tls: 1 };
  const many = reasonSeries([bucket(1, { failed: 33, reasons }), bucket(2, {})], (reason) => reason);

  assert.deepEqual(few, { names: ['timeout', 'tls'], columns: [[60], [2], [1]] });
  assert.deepEqual(many.names, ['http_status', 'redirect', 'timeout', 'dns', 'Other']);
  assert.deepEqual(many.columns.at(-1), [3, 0]);
});

test('a bucket without attempts is a gap in the durations', () => {
  assert.deepEqual(durationSeries([bucket(1, { p50_ms: 4, p95_ms: 9 }), bucket(2, {})]).columns.slice(1), [
    [4, null],
    [9, null],
  ]);
});
