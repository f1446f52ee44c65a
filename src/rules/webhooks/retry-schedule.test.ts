import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { delayBeforeAttemptMs, retryAfterOf } from './retry-schedule.ts';

const DELAYS_MS = [0, 30_000, 300_000, 1_800_000];

const ROWS: [attempt: number, random: number, delayMs: number | null][] = [
  [1, 0, 0],
  [1, 0.5, 0],
  [1, 0.999_999, 0],
  [2, 0.5, 30_000],
  [2, 0, 27_000],
  [2, 0.999_999_9, 33_000],
  [3, 0.5, 300_000],
  [3, 0, 270_000],
  [4, 0.5, 1_800_000],
  [4, 0.25, 1_710_000],
  [4, 0.999_999_999, 1_980_000],
  [5, 0.5, null],
  [1000, 0.5, null],
];

for (const [attempt, random, delayMs] of ROWS) {
  test(`attempt ${attempt} with chance ${random} waits ${delayMs ?? 'for nothing: the schedule is used up'}`, () => {
    assert.equal(delayBeforeAttemptMs({ attempt, delaysMs: DELAYS_MS, random }), delayMs);
  });
}

for (const attempt of [0, -1, 1.5, Number.NaN]) {
  test(`there is no attempt ${attempt}`, () => {
    assert.throws(() => delayBeforeAttemptMs({ attempt, delaysMs: DELAYS_MS, random: 0.5 }), RangeError);
  });
}

test('an empty schedule is used up at once', () => {
  assert.equal(delayBeforeAttemptMs({ attempt: 1, delaysMs: [], random: 0.5 }), null);
});

test('every wait is whole, within 10 % of its delay, and grows with chance', () => {
  const random = randomFrom(1800);
  for (let i = 0; i < 5_000; i++) {
    const delaysMs = [random.integer(10_000_000)];
    const [low, high] = [random.next(), random.next()].sort((a, b) => a - b) as [number, number];
    const wait = (chance: number) => delayBeforeAttemptMs({ attempt: 1, delaysMs, random: chance })!;

    assert.ok(Number.isInteger(wait(low)));
    assert.ok(Math.abs(wait(low) - delaysMs[0]!) <= delaysMs[0]! * 0.1 + 0.5);
    assert.ok(wait(low) <= wait(high));
  }
});

const ASKED: [status: number, value: string | undefined, waitMs: number | null][] = [
  [429, '31', 31_000],
  [503, '0', 0],
  [503, 'Sat, 21 Nov 2026 09:30:20 GMT', 20_000],
  [503, 'Sat, 21 Nov 2026 09:29:00 GMT', null],
  [500, '31', null],
  [503, 'soon', null],
  [503, undefined, null],
];
for (const [status, value, waitMs] of ASKED) {
  test(`Retry-After ${value} of a ${status} asks for ${waitMs ?? 'no'} ms`, () => {
    assert.equal(retryAfterOf(status, value, Date.parse('2026-11-21T09:30:00.000Z')), waitMs);
  });
}

test('a receiver may ask for the latest time that the schedule allows, and not for an earlier or later one', () => {
  const delayFor = (askedMs: number, random = 0) =>
    delayBeforeAttemptMs({ attempt: 2, delaysMs: DELAYS_MS, random, askedMs });

  assert.deepEqual([delayFor(1_000), delayFor(31_000), delayFor(120_000)], [27_000, 31_000, 33_000]);
  assert.equal(delayFor(28_000, 0.5), 30_000);
});
