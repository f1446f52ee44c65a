/** A day of the delivery log, midnight to midnight UTC, and the name of the partition that holds it. */
export type LogDay = { name: string; from: Date; to: Date };

const DAY_MS = 86_400_000;
const NAME = /^attempts_(\d{4})(\d{2})(\d{2})$/;

/** The day of `nowMs` and the `ahead` days after it. */
export function daysFrom(nowMs: number, ahead: number): LogDay[] {
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS;
  return Array.from({ length: ahead + 1 }, (_, day) => dayAt(today + day * DAY_MS));
}

/** The day that a partition of this name holds; null when it is not a day's. */
export function dayOfName(name: string): LogDay | null {
  const [, year, month, day] = NAME.exec(name) ?? [];
  const fromMs = Date.parse(`${year}-${month}-${day}T00:00:00Z`);
  return Number.isNaN(fromMs) ? null : dayAt(fromMs);
}

/** When what is kept for `days` begins, counted back from `nowMs`. What is as old, or older, may go. */
export function cutoff(nowMs: number, days: number): Date {
  return new Date(nowMs - days * DAY_MS);
}

function dayAt(fromMs: number): LogDay {
  const from = new Date(fromMs);
  return {
    name: `attempts_${from.toISOString().slice(0, 10).replaceAll('-', '')}`,
    from,
    to: new Date(fromMs + DAY_MS),
  };
}
