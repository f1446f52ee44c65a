import type { Delivery } from '#sdk/api.ts';
import { sentAt } from '../sent-at.ts';

/** An attempt on the time axis. */
export type AxisMark = {
  attempt: Delivery;
  /** When it was sent, or will be; null for one that was dropped. */
  at: string | null;
  /** Since the first attempt; null for that one, and for one without a time. */
  afterMs: number | null;
  /** How much of the axis lies between this mark and the next, in parts of any size. */
  gap: number;
};

const SECOND_MS = 1_000;
const MIN_GAP = 1;

/**
 * Places attempts on one axis. Gaps grow with the logarithm of the time between two attempts: seconds and hours are
 * both seen.
 * @param attempts  oldest first
 */
export function placeOnAxis(attempts: readonly Delivery[]): AxisMark[] {
  const times = attempts.map((attempt) => timeOf(attempt));
  const first = times.find((time) => time !== null);
  return attempts.map((attempt, index) => {
    const at = times[index]!;
    const next = times[index + 1];
    const betweenMs = at && next ? Date.parse(next) - Date.parse(at) : 0;
    const afterMs = at && first && index > 0 ? Date.parse(at) - Date.parse(first) : null;
    return { attempt, at, afterMs, gap: MIN_GAP + Math.log2(1 + Math.max(0, betweenMs) / SECOND_MS) };
  });
}

/** When it was sent or, of one that waits, will be. */
function timeOf(attempt: Delivery): string | null {
  if (attempt.status === 'pending') return attempt.next_attempt_at;
  return sentAt(attempt) ?? attempt.completed_at;
}

/** A distance from the first attempt: +0 s, +31 s, +5 min, +2.5 h. */
export function offsetText(ms: number): string {
  const seconds = ms / SECOND_MS;
  if (seconds < 10) return `+${seconds.toFixed(1)} s`;
  if (seconds < 100) return `+${Math.round(seconds)} s`;
  if (seconds < 6_000) return `+${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `+${(seconds / 3_600).toFixed(1)} h` : `+${Math.round(seconds / 86_400)} d`;
}
