import assert from 'node:assert/strict';
import { test } from 'node:test';
import { delayBeforeNextTryMs, FETCH_FAILURE_REASONS, type FetchFailure } from './fetch-failure.ts';

const NOW = Date.parse('2026-11-22T12:00:00Z');
const answered = (httpStatus: number, retryAfter: string | null = null): FetchFailure => ({
  reason: 'http_status',
  httpStatus,
  retryAfter,
});
const delays = (failure: FetchFailure) =>
  [1, 2, 3].map((tries) => delayBeforeNextTryMs(failure, { tries, nowMs: NOW }));

test('there are three tries, after 5 and 30 seconds', () => {
  assert.deepEqual(delays(answered(503)), [5_000, 30_000, null]);
});

test('of all statuses 408, 425, 429 and 5xx are tried again', () => {
  const statuses = Array.from({ length: 500 }, (_, index) => 100 + index);

  const retried = statuses.filter((status) => delays(answered(status))[0] !== null);

  assert.deepEqual(
    retried.filter((status) => status < 500),
    [408, 425, 429],
  );
  assert.equal(retried.filter((status) => status >= 500).length, 100);
});

test('broken connections, silence and unresolved names are tried again', () => {
  const retried = FETCH_FAILURE_REASONS.filter(
    (reason) => delays({ reason, httpStatus: null, retryAfter: null })[0] !== null,
  );

  assert.deepEqual(retried, ['dns', 'connect', 'timeout']);
});

const RETRY_AFTER: [text: string, delaysMs: (number | null)[]][] = [
  ['1', [5_000, 30_000, null]],
  ['40', [40_000, 40_000, null]],
  ['86400', [60_000, 60_000, null]],
  ['Sun, 22 Nov 2026 12:00:20 GMT', [20_000, 30_000, null]],
  ['Sun, 22 Nov 2026 11:00:00 GMT', [5_000, 30_000, null]],
  ['Fri, 31 Dec 9999 23:59:59 GMT', [60_000, 60_000, null]],
  ['soon', [5_000, 30_000, null]],
  ['-5', [5_000, 30_000, null]],
  ['', [5_000, 30_000, null]],
];
for (const [text, expected] of RETRY_AFTER) {
  test(`with Retry-After "${text}" the delays are ${expected.join(', ')}`, () => {
    assert.deepEqual(delays(answered(429, text)), expected);
  });
}
