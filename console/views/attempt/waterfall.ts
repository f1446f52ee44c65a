import type { Delivery } from '#sdk/api.ts';

/** `rest`: from the first byte to the end; `unfinished`: the phase in which the attempt failed. */
export type PhaseName = 'dns' | 'connect' | 'tls' | 'first_byte' | 'rest' | 'unfinished';

export type Phase = {
  name: PhaseName;
  startMs: number;
  durationMs: number;
  /** Left edge and width in percent of the bar. */
  startPercent: number;
  widthPercent: number;
};

export type Waterfall = {
  phases: Phase[];
  totalMs: number;
  /** In percent of the deadline, at most 100. */
  usedPercent: number;
  /** Where the deadline is, in percent of the bar; null when the attempt ended long before it. */
  deadlinePercent: number | null;
};

// A phase of less would not be seen.
const MIN_WIDTH_PERCENT = 0.6;
// Below this part of the deadline the bar shows the attempt only: 5 ms of 5 s would be a line.
const SHOW_DEADLINE_FROM = 0.25;
// What rounding leaves between the sum of the phases and the whole.
const IGNORED_MS = 0.05;

/** The phases of an attempt one after another, with the place of each on a bar. Null: the attempt was not made. */
export function layOutPhases(
  { timings, duration_ms }: Pick<Delivery, 'timings' | 'duration_ms'>,
  deadlineMs: number,
): Waterfall | null {
  if (duration_ms === null) return null;
  const taken: [PhaseName, number | null][] = [
    ['dns', timings.dns_ms],
    ['connect', timings.connect_ms],
    ['tls', timings.tls_ms],
    ['first_byte', timings.first_byte_ms],
  ];
  const known = taken.reduce((sum, [, ms]) => sum + (ms ?? 0), 0);
  const restMs = duration_ms - known;
  if (restMs > IGNORED_MS) taken.push([timings.first_byte_ms === null ? 'unfinished' : 'rest', restMs]);
  const totalMs = Math.max(duration_ms, known);
  const isNearDeadline = totalMs >= SHOW_DEADLINE_FROM * deadlineMs;
  const spanMs = Math.max(isNearDeadline ? deadlineMs : 0, totalMs, Number.EPSILON);
  return {
    phases: place(taken, spanMs),
    totalMs,
    usedPercent: Math.min(100, (100 * totalMs) / deadlineMs),
    deadlinePercent: isNearDeadline ? Math.min(100, (100 * deadlineMs) / spanMs) : null,
  };
}

function place(taken: readonly [PhaseName, number | null][], spanMs: number): Phase[] {
  const phases: Phase[] = [];
  let startMs = 0;
  for (const [name, durationMs] of taken) {
    if (durationMs === null) continue;
    const widthPercent = Math.max(MIN_WIDTH_PERCENT, (100 * durationMs) / spanMs);
    const startPercent = Math.min((100 * startMs) / spanMs, 100 - widthPercent);
    phases.push({ name, startMs, durationMs, startPercent, widthPercent });
    startMs += durationMs;
  }
  return phases;
}
