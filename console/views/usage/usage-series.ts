import type { Usage, UsageRow } from '#sdk/wire.ts';
import type { Series } from '../../charts/series.ts';
import { credits } from '../../text/format.ts';

const HOUR_SECONDS = 3_600;
// More would be told apart by nobody; the rest is one series.
const MAX_GROUPS = 5;

type MeasureOf = { label: string; figureOf: (row: UsageRow) => number; format: (value: number) => string };

/** What a chart can show of a row. */
export const MEASURES = {
  minutes: { label: 'Minutes of audio', figureOf: (row) => row.audio_seconds / 60, format: (value) => credits(value) },
  jobs: { label: 'Jobs', figureOf: ({ jobs }) => jobs, format: String },
  credits: { label: 'Credits', figureOf: ({ cost }) => cost, format: (value) => credits(value) },
} satisfies Record<string, MeasureOf>;

export type Measure = keyof typeof MEASURES;

/**
 * The values of each group in each bucket, those without a job included.
 * The groups with the largest sums have series of their own.
 */
export function usageSeries(
  usage: Usage,
  figureOf: (row: UsageRow) => number,
  groupOf: (row: UsageRow) => string,
): Series {
  const seconds = bucketStarts(usage);
  const sums = new Map<string, number>();
  for (const row of usage.data) sums.set(groupOf(row), (sums.get(groupOf(row)) ?? 0) + figureOf(row));
  const ordered = [...sums].sort(([, one], [, other]) => other - one).map(([name]) => name);
  const names = ordered.length > MAX_GROUPS ? [...ordered.slice(0, MAX_GROUPS - 1), 'others'] : ordered;
  const columns = names.map(() => seconds.map(() => 0));
  // Groups without a series of their own (-1) are in the last one.
  for (const row of usage.data) {
    const at = seconds.indexOf(Date.parse(row.start) / 1_000);
    const column = columns.at(names.indexOf(groupOf(row)))!;
    if (at >= 0) column[at] = column[at]! + figureOf(row);
  }
  return { names, columns: [seconds, ...columns] };
}

/** The start of each bucket, in seconds since the epoch. Buckets are of UTC. */
function bucketStarts({ from, to, bucket }: Usage): number[] {
  const starts: number[] = [];
  const end = Date.parse(to) / 1_000;
  for (let at = Date.parse(from) / 1_000; at < end; at = next(at, bucket)) starts.push(at);
  return starts;
}

function next(seconds: number, bucket: Usage['bucket']): number {
  if (bucket === 'hour') return seconds + HOUR_SECONDS;
  if (bucket === 'day') return seconds + 24 * HOUR_SECONDS;
  const time = new Date(seconds * 1_000);
  return Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + 1, 1) / 1_000;
}
