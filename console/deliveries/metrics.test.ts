import assert from 'node:assert/strict';
import test from 'node:test';
import type { WebhookMetricsInterval } from '#sdk/api.ts';
import { EMPTY_INTERVAL } from '../../test/fixtures/webhooks/empty-interval.ts';
import { metricsQuery, percent, totalsOf } from './metrics.ts';

const bucket = (part: Partial<WebhookMetricsInterval>): WebhookMetricsInterval => ({
  start: '2026-11-21T09:00:00.000Z',
  ...EMPTY_INTERVAL,
  ...part,
});

test('totals add up counts and reasons, and name the highest p95, not a sum', () => {
  const totals = totalsOf([
    bucket({ attempts: 10, succeeded: 8, failed: 2, reasons: { timeout: 1, tls: 1 }, p95_ms: 40 }),
    bucket({}),
    bucket({ attempts: 3, failed: 3, dropped: 2, reasons: { timeout: 3 }, p95_ms: 5000 }),
  ]);

  assert.deepEqual(totals, {
    attempts: 13,
    succeeded: 8,
    failed: 5,
    dropped: 2,
    successRate: 8 / 13,
    highestP95Ms: 5000,
    reasons: [
      { reason: 'timeout', failures: 4 },
      { reason: 'tls', failures: 1 },
    ],
  });
});

test('a time without attempts has no rate and no percentile', () => {
  const { successRate, highestP95Ms } = totalsOf([bucket({ dropped: 1 })]);

  assert.deepEqual([successRate, highestP95Ms], [null, null]);
  assert.deepEqual(totalsOf([]).reasons, []);
});

test('a share is rounded down, so that 100 % means all', () => {
  assert.deepEqual([null, 0, 1, 0.9996, 0.5, 0.0004, 0.123].map(percent), [
    '–',
    '0 %',
    '100 %',
    '99.9 %',
    '50 %',
    '<0.1 %',
    '12.3 %',
  ]);
});

test('a span ends now and has the width of bucket that the service allows for it', () => {
  const nowMs = Date.parse('2026-11-21T09:30:00.000Z');

  assert.deepEqual(metricsQuery('24h', nowMs), { from: '2026-11-20T09:30:00.000Z', bucket: 'hour' });
  assert.equal(metricsQuery('1h', nowMs).bucket, 'minute');
});
