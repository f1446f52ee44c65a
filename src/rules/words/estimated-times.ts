import type { Interval } from '../transcript/intervals.ts';

/** A word or a segment whose start or end may be unknown, and how long its text takes beside others. */
export type MaybeTimed = { startSeconds: number | null; endSeconds: number | null; weight: number };

/**
 * The parts of a text, in its order, without the times that contradict this order: those of the fewest parts become
 * unknown.
 */
export function withoutDisorder<Part extends MaybeTimed>(parts: readonly Part[]): Part[] {
  const timeOf = ({ startSeconds, endSeconds }: MaybeTimed) => startSeconds ?? endSeconds;
  // The longest row of times that do not go back: `lasts` holds the part with which the best row of each length ends.
  const lasts: number[] = [];
  const before = parts.map(() => -1);
  for (const [at, part] of parts.entries()) {
    const time = timeOf(part);
    if (time === null) continue;
    let [low, high] = [0, lasts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (timeOf(parts[lasts[middle]!]!)! <= time) low = middle + 1;
      else high = middle;
    }
    before[at] = lasts[low - 1] ?? -1;
    lasts[low] = at;
  }
  const kept = new Set<number>();
  for (let at = lasts.at(-1) ?? -1; at !== -1; at = before[at]!) kept.add(at);
  return parts.map((part, at) => (kept.has(at) ? part : { ...part, startSeconds: null, endSeconds: null }));
}

/**
 * The times of all parts of a text: those that are unknown lie between the known ones, shared out by weight.
 * @param parts   without disorder
 * @param bounds  of all of them; known times may lie outside
 */
export function estimateTimes(parts: readonly MaybeTimed[], bounds: Interval): Interval[] {
  const points = parts.flatMap(({ startSeconds, endSeconds, weight }) => [
    { seconds: startSeconds, weight },
    { seconds: endSeconds, weight: 0 },
  ]);
  const known: number[] = [];
  let last = bounds.startSeconds;
  for (let at = 0; at < points.length; ) {
    let end = at;
    while (end < points.length && points[end]!.seconds === null) end += 1;
    const next = points[end]?.seconds ?? Math.max(last, bounds.endSeconds);
    const first = Math.min(last, next);
    // What lies between two points weighs as much as the first of them says.
    const weights = points.slice(at, end).map((_, offset) => points[at + offset - 1]?.weight ?? 0);
    const total = weights.reduce((sum, weight) => sum + weight, 0) + (points[end - 1]?.weight ?? 0);
    let passed = 0;
    for (const weight of weights) {
      passed += weight;
      known.push(total === 0 ? first : first + ((next - first) * passed) / total);
    }
    if (end < points.length) known.push(next);
    last = next;
    at = end + 1;
  }
  return parts.map((_, at) => ({ startSeconds: known[2 * at]!, endSeconds: known[2 * at + 1]! }));
}
