import assert from 'node:assert/strict';
import test from 'node:test';
import { parseTime } from './time.ts';

test('a time needs its zone, or is a date in UTC', () => {
  const given = [
    '2026-11-21T09:30:00Z',
    '2026-11-21T09:30+02:00',
    '2026-11-21',
    '2026-11-21T09:30:00',
    '1',
    '2026-13-01',
    '2026-02-30',
    '2026-02-30T09:30:00Z',
    '2027-02-29T09:30:00+02:00',
    '2028-02-29',
    '',
  ];

  assert.deepEqual(
    given.map((text) => parseTime(text)?.toISOString() ?? null),
    [
      ...['2026-11-21T09:30:00.000Z', '2026-11-21T07:30:00.000Z', '2026-11-21T00:00:00.000Z', null, null, null],
      ...[null, null, null, '2028-02-29T00:00:00.000Z', null],
    ],
  );
});
