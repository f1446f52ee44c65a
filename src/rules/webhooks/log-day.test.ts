import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cutoff, dayOfName, daysFrom } from './log-day.ts';

const DAY_MS = 86_400_000;

test('the days ahead begin with today, at midnight UTC, and touch each other', () => {
  for (const time of ['2027-12-30T00:00:00.000Z', '2027-12-30T23:59:59.999Z']) {
    const days = daysFrom(Date.parse(time), 3);

    assert.deepEqual(
      days.map(({ name }) => name),
      ['attempts_20271230', 'attempts_20271231', 'attempts_20280101', 'attempts_20280102'],
    );
    for (const { from, to } of days) assert.equal(to.getTime() - from.getTime(), DAY_MS);
    assert.equal(days[0]!.from.toISOString(), '2027-12-30T00:00:00.000Z');
  }
});

test('a name tells its day, and only the name of a day does', () => {
  const [day] = daysFrom(Date.parse('2028-02-29T12:00:00Z'), 0);

  assert.deepEqual(dayOfName(day!.name), day);
  for (const name of ['attempts_default', 'attempts', 'attempts_2028022', 'x_20280229', 'attempts_20280229_old']) {
    assert.equal(dayOfName(name), null);
  }
});

test('what is kept for days begins so many times 24 hours ago', () => {
  assert.equal(cutoff(Date.parse('2026-11-21T09:30:00Z'), 7).toISOString(), '2026-11-14T09:30:00.000Z');
});
