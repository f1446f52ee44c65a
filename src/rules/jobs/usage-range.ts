export const USAGE_BUCKETS = ['hour', 'day', 'month'] as const;
export type UsageBucket = (typeof USAGE_BUCKETS)[number];

const DAY_MS = 86_400_000;

/** The longest time, in days, that one request may ask for. */
export const MAX_USAGE_DAYS: Readonly<Record<UsageBucket, number>> = { hour: 7, day: 366, month: 1_830 };

/** How long the figures of each hour are kept, in days; those of each day have no end. */
export const USAGE_HOURS_KEPT_DAYS = 92;

/** Whole buckets: from the start of the first to the end of the last. */
export type UsageRange = { from: Date; to: Date };

/**
 * The buckets that hold the time from `from` to `to`, in UTC. By default it ends now, and begins a day (hours), 30 days
 * (days) or a year (months) before.
 * @param to  exclusive
 */
export function usageRange(
  bucket: UsageBucket,
  { from, to, now }: { from: Date | null; to: Date | null; now: Date },
): { kind: 'range'; range: UsageRange } | { kind: 'refused'; param: 'from' | 'to'; message: string } {
  const end = to ?? now;
  const start = from ?? defaultStart(bucket, end);
  if (start >= end) return { kind: 'refused', param: 'from', message: 'from must be earlier than to.' };
  const maxDays = MAX_USAGE_DAYS[bucket];
  if (end.getTime() - start.getTime() > maxDays * DAY_MS) {
    const message = `With bucket=${bucket}, from and to may be at most ${maxDays} days apart.`;
    return { kind: 'refused', param: 'from', message };
  }
  if (bucket === 'hour' && now.getTime() - start.getTime() > USAGE_HOURS_KEPT_DAYS * DAY_MS) {
    const message = `The figures of each hour are kept for ${USAGE_HOURS_KEPT_DAYS} days; ask for bucket=day.`;
    return { kind: 'refused', param: 'from', message };
  }
  const last = startOfBucket(bucket, end);
  return {
    kind: 'range',
    range: { from: startOfBucket(bucket, start), to: last < end ? endOfBucket(bucket, last) : last },
  };
}

function defaultStart(bucket: UsageBucket, end: Date): Date {
  if (bucket === 'month') {
    return new Date(Date.UTC(end.getUTCFullYear() - 1, end.getUTCMonth(), 1));
  }
  return new Date(end.getTime() - (bucket === 'day' ? 30 : 1) * DAY_MS);
}

function startOfBucket(bucket: UsageBucket, time: Date): Date {
  const start = new Date(time);
  if (bucket === 'month') start.setUTCDate(1);
  if (bucket === 'hour') start.setUTCMinutes(0, 0, 0);
  else start.setUTCHours(0, 0, 0, 0);
  return start;
}

/** The end of the bucket that begins at `start`, which is the start of the next one. */
export function endOfBucket(bucket: UsageBucket, start: Date): Date {
  const end = new Date(start);
  if (bucket === 'hour') end.setUTCHours(end.getUTCHours() + 1);
  else if (bucket === 'day') end.setUTCDate(end.getUTCDate() + 1);
  else end.setUTCMonth(end.getUTCMonth() + 1);
  return end;
}
