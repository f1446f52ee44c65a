import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endOfBucket, type UsageBucket, usageRange } from './usage-range.ts';

const NOW = new Date('2026-11-22T10:20:30.000Z');
const at = (text: string | null) => (text === null ? null : new Date(text));

/** The range as text, or the parameter that is refused. */
function rangeOf(bucket: UsageBucket, from: string | null, to: string | null): string {
  const found = usageRange(bucket, { from: at(from), to: at(to), now: NOW });
  if (found.kind === 'refused') return found.message;
  return [found.range.from, found.range.to].map((time) => time.toISOString().replace(':00.000Z', '')).join(' ');
}

const RANGES: [UsageBucket, string | null, string | null, string][] = [
  ['hour', null, null, '2026-11-21T10:00 2026-11-22T11:00'],
  ['day', null, null, '2026-10-23T00:00 2026-11-23T00:00'],
  ['month', null, null, '2025-11-01T00:00 2026-12-01T00:00'],
  ['day', '2026-11-01', '2026-12-01', '2026-11-01T00:00 2026-12-01T00:00'],
  ['day', '2026-11-01T00:00:00.001Z', '2026-11-02T00:00:00.001Z', '2026-11-01T00:00 2026-11-03T00:00'],
  ['hour', '2026-11-01T01:30:00+02:00', '2026-11-01T01:30:00Z', '2026-10-31T23:00 2026-11-01T02:00'],
  ['month', '2024-02-29', '2024-03-01', '2024-02-01T00:00 2024-03-01T00:00'],
  ['hour', '2026-11-01', '2026-11-08', '2026-11-01T00:00 2026-11-08T00:00'],
  ['day', '2024-01-01', '2025-01-01', '2024-01-01T00:00 2025-01-01T00:00'],
];
for (const [bucket, from, to, expected] of RANGES) {
  test(`whole buckets hold the time from ${from} to ${to}, by ${bucket}`, () => {
    assert.equal(rangeOf(bucket, from, to), expected);
  });
}

const REFUSED: [UsageBucket, string | null, string | null, RegExp][] = [
  ['day', '2026-11-02', '2026-11-02', /earlier than to/],
  ['day', '2026-11-23', null, /earlier than to/],
  ['hour', '2026-11-01', '2026-11-08T00:00:00.001Z', /at most 7 days apart/],
  ['day', '2025-01-01', '2026-01-02T00:00:00.001Z', /at most 366 days apart/],
  ['month', '2010-01-01', '2026-01-01', /at most 1830 days apart/],
  ['hour', '2026-08-22T10:20:00Z', '2026-08-23', /kept for 92 days; ask for bucket=day/],
];
for (const [bucket, from, to, expected] of REFUSED) {
  test(`the time from ${from} to ${to} is refused, by ${bucket}`, () => {
    assert.match(rangeOf(bucket, from, to), expected);
  });
}

test('a bucket ends where the next one begins, at the ends of months and years too', () => {
  const ends = (['hour', 'day', 'month'] as const).map((bucket) =>
    endOfBucket(bucket, new Date('2026-12-31T23:00:00.000Z')).toISOString(),
  );

  assert.equal(ends[0], '2027-01-01T00:00:00.000Z');
  assert.equal(endOfBucket('day', new Date('2024-02-28')).toISOString(), '2024-02-29T00:00:00.000Z');
  assert.equal(endOfBucket('month', new Date('2026-12-01')).toISOString(), '2027-01-01T00:00:00.000Z');
});
