export const BUCKETS = ['minute', 'hour', 'day'] as const;
export type Bucket = (typeof BUCKETS)[number];

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const SIZE_MS: Record<Bucket, number> = { minute: MINUTE_MS, hour: HOUR_MS, day: DAY_MS };
/** How many buckets one answer may have: a day of minutes, a month of hours, a year of days. */
const MAX_BUCKETS: Record<Bucket, number> = { minute: 1_440, hour: 744, day: 366 };
const DEFAULT_BUCKETS: Record<Bucket, number> = { minute: 60, hour: 24, day: 30 };

/** Spans of time of equal length, in UTC: the first begins at `fromMs`. */
export type BucketGrid = { fromMs: number; bucketMs: number; count: number };

/** A span that cannot be divided. `param` is the field at fault; the message is the rest of a sentence about it. */
export type BucketProblem = { param: 'from' | 'to'; message: string };

/**
 * Divides a time into whole minutes, hours or days that cover it. Without `to` it ends now, and never later; without
 * `from` it is an hour, a day or 30 days long.
 */
export function divideTime(
  { fromMs, toMs, bucket }: { fromMs: number | null; toMs: number | null; bucket: Bucket },
  nowMs: number,
): BucketGrid | BucketProblem {
  const bucketMs = SIZE_MS[bucket];
  const endMs = Math.ceil(Math.min(toMs ?? nowMs, nowMs) / bucketMs) * bucketMs;
  const startMs = fromMs === null ? endMs - DEFAULT_BUCKETS[bucket] * bucketMs : floorTo(fromMs, bucketMs);
  const count = (endMs - startMs) / bucketMs;
  if (count <= 0) return { param: 'from', message: 'must be before to, and not in the future' };
  const most = MAX_BUCKETS[bucket];
  if (count > most)
    return { param: 'from', message: `is more than ${most} ${bucket}s before to; take a larger bucket` };
  return { fromMs: startMs, bucketMs, count };
}

function floorTo(timeMs: number, bucketMs: number): number {
  return Math.floor(timeMs / bucketMs) * bucketMs;
}
