/** One series of the soak: a value for each moment, null where there was none. */
export type Series = {
  name: string;
  unit: string;
  /** Growth over the whole run that says nothing: the noise of a healthy service, in the unit. */
  noise: number;
  values: (number | null)[];
};

export type Slope = {
  /** The median of the values. */
  level: number;
  /** Per hour, in the unit of the series. */
  perHour: number;
  /** Over the measured time. */
  growth: number;
  verdict: 'flat' | 'grows' | 'falls' | 'too few values';
};

// Fewer say nothing about a slope.
const FEWEST_VALUES = 8;
// Caches fill, and PostgreSQL learns its statistics, in the first part of a run.
const WARM_UP_SHARE = 0.2;
// Growth of less than this share of the level is flat.
const FLAT_SHARE = 0.05;

/**
 * The slope of a series after its warm-up: the median of the slopes between all pairs of values (Theil and Sen), which
 * garbage collections and a few slow answers do not move. A series is flat when it grows or falls by at most 5 % of its
 * level, or by at most its noise, over the measured time.
 * @param hours  of each value, since the start
 */
export function slopeOf({ values, noise }: Series, hours: number[]): Slope {
  const firstHour = (hours.at(-1) ?? 0) * WARM_UP_SHARE;
  const points = values
    .map((value, at) => ({ hour: hours[at]!, value }))
    .filter((point): point is { hour: number; value: number } => point.value !== null && point.hour >= firstHour);
  const level = median(points.map(({ value }) => value));
  if (points.length < FEWEST_VALUES) return { level, perHour: 0, growth: 0, verdict: 'too few values' };
  const slopes = points.flatMap((one, at) =>
    points.slice(at + 1).map((other) => (other.value - one.value) / (other.hour - one.hour)),
  );
  const perHour = median(slopes);
  const growth = perHour * (points.at(-1)!.hour - points[0]!.hour);
  const isFlat = Math.abs(growth) <= Math.max(noise, FLAT_SHARE * Math.abs(level));
  return { level, perHour, growth, verdict: isFlat ? 'flat' : growth > 0 ? 'grows' : 'falls' };
}

/** The value in the middle; of none, 0. */
export function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
