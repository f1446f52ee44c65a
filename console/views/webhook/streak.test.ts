import assert from 'node:assert/strict';
import test from 'node:test';
import { streakOf, streakText } from './streak.ts';

const LIMITS = { disable_failures: 10, disable_seconds: 1800 };
const at = (time: string) => Date.parse(`2026-11-21T${time}:00.000Z`);
const failing = { active: true, consecutive_failures: 7, failing_since: '2026-11-21T10:12:00.000Z' };

test('a webhook is disabled at the earliest when its streak is old enough', () => {
  assert.deepEqual(streakOf(failing, LIMITS, at('10:20')), {
    failures: 7,
    limit: 10,
    share: 0.7,
    failingSinceMs: at('10:12'),
    disabledFromMs: at('10:42'),
  });
});

test('once the streak is old enough, the next failure that reaches the limit disables it', () => {
  assert.equal(streakOf(failing, LIMITS, at('11:00'))!.disabledFromMs, at('11:00'));
});

test('more failures than the limit, in less than its time, fill the share only', () => {
  assert.equal(streakOf({ ...failing, consecutive_failures: 25 }, LIMITS, at('10:20'))!.share, 1);
});

test('failures are counted of the limit until they have reached it', () => {
  const texts = [9, 10, 12].map((failures) => streakText({ failures, limit: 10 }));

  assert.deepEqual(texts, ['9 of 10 failed in a row', '10 failed in a row', '12 failed in a row']);
});

test('without failures, and once it is disabled, there is no streak', () => {
  assert.equal(streakOf({ active: true, consecutive_failures: 0, failing_since: null }, LIMITS, 0), null);
  assert.equal(streakOf({ ...failing, active: false }, LIMITS, 0), null);
});
