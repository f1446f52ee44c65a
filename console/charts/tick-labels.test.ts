import assert from 'node:assert/strict';
import test from 'node:test';
import { calendarLabels, labelledTimes, tickLabels } from './tick-labels.ts';

const at = (time: string) => Date.parse(`2026-11-${time}:00Z`) / 1000;

test('hours have the date at the first tick and at midnight', () => {
  assert.deepEqual(tickLabels([at('21T16:00'), at('21T20:00'), at('22T00:00'), at('22T04:00')], true), [
    '16:00\n21 Nov',
    '20:00',
    '00:00\n22 Nov',
    '04:00',
  ]);
});

test('ticks a day apart are dates', () => {
  assert.deepEqual(tickLabels([at('20T00:00'), at('22T00:00')], true), ['20 Nov', '22 Nov']);
  assert.deepEqual(tickLabels([], true), []);
});

test('days and months of UTC have no time of day, and the year where it begins', () => {
  const day = (date: string) => Date.parse(`${date}T00:00:00Z`) / 1000;

  assert.deepEqual(calendarLabels([day('2026-12-30'), day('2026-12-31'), day('2027-01-01')], 'day'), [
    '30 Dec\n2026',
    '31 Dec',
    '1 Jan\n2027',
  ]);
  assert.deepEqual(calendarLabels([day('2026-11-01'), day('2026-12-01')], 'month'), ['Nov\n2026', 'Dec']);
});

test('bars are labelled at equal distances, the newest always', () => {
  assert.deepEqual(labelledTimes([1, 2, 3, 4, 5], 5), [1, 2, 3, 4, 5]);
  assert.deepEqual(labelledTimes([1, 2, 3, 4, 5], 3), [1, 3, 5]);
  assert.deepEqual(labelledTimes([1, 2, 3, 4], 1), [4]);
  assert.deepEqual(labelledTimes([], 3), []);
});
