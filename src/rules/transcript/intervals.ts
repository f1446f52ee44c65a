/** A part of some audio, in seconds from its start. */
export type Interval = { startSeconds: number; endSeconds: number };

/** The length of all intervals together, in seconds. */
export function totalSeconds(intervals: readonly Interval[]): number {
  return intervals.reduce((sum, { startSeconds, endSeconds }) => sum + endSeconds - startSeconds, 0);
}

/** From the first start to the last end of sorted intervals; null when there are none. */
export function hullOf(intervals: readonly Interval[]): Interval | null {
  const [first, last] = [intervals[0], intervals.at(-1)];
  return first && last ? { startSeconds: first.startSeconds, endSeconds: last.endSeconds } : null;
}

/** The parts of intervals that lie inside `part`, in seconds from its start. */
export function clipTo(part: Interval, intervals: readonly Interval[]): Interval[] {
  return intervals
    .map(({ startSeconds, endSeconds }) => ({
      startSeconds: Math.max(startSeconds, part.startSeconds) - part.startSeconds,
      endSeconds: Math.min(endSeconds, part.endSeconds) - part.startSeconds,
    }))
    .filter(({ startSeconds, endSeconds }) => endSeconds > startSeconds);
}

/** The intervals, all later by this number of seconds. */
export function shiftBy<Timed extends Interval>(seconds: number, intervals: readonly Timed[]): Timed[] {
  return intervals.map((interval) => ({
    ...interval,
    startSeconds: interval.startSeconds + seconds,
    endSeconds: interval.endSeconds + seconds,
  }));
}
