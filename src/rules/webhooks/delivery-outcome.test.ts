import assert from 'node:assert/strict';
import { test } from 'node:test';
import { classifyPost, FAILURE_REASONS, type FailureReason } from './delivery-outcome.ts';

const ANSWERS: [status: number, outcome: 'succeeded' | FailureReason][] = [
  [200, 'succeeded'],
  [201, 'succeeded'],
  [202, 'succeeded'],
  [204, 'succeeded'],
  [299, 'succeeded'],
  [100, 'http_status'],
  [101, 'http_status'],
  [199, 'http_status'],
  [300, 'redirect'],
  [301, 'redirect'],
  [302, 'redirect'],
  [304, 'redirect'],
  [307, 'redirect'],
  [308, 'redirect'],
  [399, 'redirect'],
  [400, 'http_status'],
  [401, 'http_status'],
  [404, 'http_status'],
  [410, 'http_status'],
  [429, 'http_status'],
  [499, 'http_status'],
  [500, 'http_status'],
  [503, 'http_status'],
  [599, 'http_status'],
  [0, 'http_status'],
  [999, 'http_status'],
  [Number.NaN, 'http_status'],
];

for (const [status, expected] of ANSWERS) {
  test(`an answer of ${status} is ${expected}`, () => {
    const outcome = classifyPost({ kind: 'answered', status });

    assert.equal(outcome.kind === 'failed' ? outcome.reason : outcome.kind, expected);
  });
}

test('only the 100 statuses from 200 to 299 succeed', () => {
  const succeeded = Array.from({ length: 1000 }, (_, status) => status).filter(
    (status) => classifyPost({ kind: 'answered', status }).kind === 'succeeded',
  );

  assert.deepEqual(
    succeeded,
    Array.from({ length: 100 }, (_, index) => 200 + index),
  );
});

test('a failed answer says which status came', () => {
  const outcome = classifyPost({ kind: 'answered', status: 503 });

  assert.ok(outcome.kind === 'failed' && outcome.message.includes('503'));
});

test('a broken exchange fails with its own reason and message', () => {
  const reasons = FAILURE_REASONS.filter((reason) => reason !== 'http_status' && reason !== 'redirect');
  const outcomes = reasons.map((reason) =>
    classifyPost({ kind: 'transport_error', reason, message: `it was ${reason}` }),
  );

  assert.deepEqual(
    outcomes,
    reasons.map((reason) => ({ kind: 'failed', reason, message: `it was ${reason}` })),
  );
});
