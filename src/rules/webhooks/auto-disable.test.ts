import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { type DisableBounds, streakAfter } from './auto-disable.ts';

const BOUNDS = { disableFailures: 10, disableMs: 1_800_000 };
const SINCE_MS = 1_000_000_000;

const ROWS: [failures: number, spanMs: number, verdict: 'keep' | 'warn' | 'disable'][] = [
  [1, 0, 'keep'],
  [4, 1_800_000, 'keep'],
  [5, 0, 'warn'],
  [5, 1_800_000, 'warn'],
  [6, 1_800_000, 'keep'],
  [7, 1_800_000, 'warn'],
  [8, 1_800_000, 'keep'],
  [9, 1_800_000, 'warn'],
  [9, 999_999_999, 'warn'],
  [10, 0, 'keep'],
  [10, 1_799_999, 'keep'],
  [10, 1_800_000, 'disable'],
  [11, 1_799_999, 'keep'],
  [11, 1_800_000, 'disable'],
  [10_000, 1_799_999, 'keep'],
  [10_000, 1_800_000, 'disable'],
  [10, -5, 'keep'],
];

for (const [consecutiveFailures, spanMs, verdict] of ROWS) {
  test(`${consecutiveFailures} failures over ${spanMs} ms: ${verdict}`, () => {
    const streak = { consecutiveFailures, failingSinceMs: SINCE_MS, nowMs: SINCE_MS + spanMs, ...BOUNDS };

    assert.equal(verdictOn(streak), verdict);
  });
}

type Failing = { consecutiveFailures: number; failingSinceMs: number; nowMs: number } & DisableBounds;

/** The verdict on a streak with its last failure. */
function verdictOn({ consecutiveFailures, failingSinceMs, ...bounds }: Failing): string {
  return streakAfter({ consecutiveFailures: consecutiveFailures - 1, failingSinceMs }, [false], bounds).verdict;
}

const WARNINGS: [disableFailures: number, warnedAt: number[]][] = [
  [1, []],
  [2, [1]],
  [3, [2]],
  [4, [2, 3]],
  [10, [5, 7, 9]],
  [20, [10, 14, 18]],
  [100, [50, 70, 90]],
];

for (const [disableFailures, warnedAt] of WARNINGS) {
  test(`with a bound of ${disableFailures} it warns at ${warnedAt.join(', ') || 'nothing'}`, () => {
    const counts = Array.from({ length: 200 }, (_, index) => index + 1);
    const evaluate = (consecutiveFailures: number) =>
      verdictOn({ consecutiveFailures, failingSinceMs: 0, nowMs: 0, disableFailures, disableMs: 1 });

    assert.deepEqual(
      counts.filter((count) => evaluate(count) === 'warn'),
      warnedAt,
    );
  });
}

test('it disables exactly when both bounds are reached', () => {
  const random = randomFrom(10);
  for (let i = 0; i < 5_000; i++) {
    const streak = {
      consecutiveFailures: 1 + random.integer(30),
      failingSinceMs: random.integer(1000),
      nowMs: random.integer(3000),
      disableFailures: 1 + random.integer(20),
      disableMs: random.integer(2000),
    };
    const isOver =
      streak.consecutiveFailures >= streak.disableFailures && streak.nowMs - streak.failingSinceMs >= streak.disableMs;

    assert.equal(verdictOn(streak) === 'disable', isOver);
  }
});

const OUTCOMES: [string, boolean[], ReturnType<typeof streakAfter>][] = [
  ['none', [], { consecutiveFailures: 4, failingSinceMs: 10, verdict: 'keep' }],
  ['a failure', [false], { consecutiveFailures: 5, failingSinceMs: 10, verdict: 'warn' }],
  ['a warning passed on the way', [false, false], { consecutiveFailures: 6, failingSinceMs: 10, verdict: 'warn' }],
  ['a success', [true], { consecutiveFailures: 0, failingSinceMs: null, verdict: 'keep' }],
  ['a failure after a success', [false, true, false], { consecutiveFailures: 1, failingSinceMs: 50, verdict: 'keep' }],
  ['the last failure', Array(6).fill(false), { consecutiveFailures: 10, failingSinceMs: 10, verdict: 'disable' }],
  [
    'a success after it',
    [...Array(6).fill(false), true],
    { consecutiveFailures: 0, failingSinceMs: null, verdict: 'keep' },
  ],
];
for (const [name, outcomes, after] of OUTCOMES) {
  test(`the streak after attempts that are recorded together: ${name}`, () => {
    const bounds = { disableFailures: 10, disableMs: 40, nowMs: 50 };

    assert.deepEqual(streakAfter({ consecutiveFailures: 4, failingSinceMs: 10 }, outcomes, bounds), after);
  });
}
