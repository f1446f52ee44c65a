const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
// To make one for each time would be most of the cost of a row that scrolls into view.
const EXACT = formats({ dateStyle: 'medium', timeStyle: 'medium' });
const DATE = formats({ dateStyle: 'medium' });
const MONTH = formats({ month: 'short', year: 'numeric' });

/** Units of the calendar in UTC, which have the same name in every time zone. */
export type CalendarUnit = 'day' | 'month';

/** A time in words: 5 s ago, in 3 min, 2 h ago, 4 d ago; of more than a week, the date. */
export function relativeTime(timeMs: number, nowMs: number, utc: boolean): string {
  const distance = Math.abs(nowMs - timeMs);
  if (distance < 2 * SECOND) return 'now';
  if (distance >= 7 * DAY) return dateOf(timeMs, utc);
  const [size, unit] =
    distance < MINUTE
      ? ([SECOND, 's'] as const)
      : distance < HOUR
        ? ([MINUTE, 'min'] as const)
        : distance < DAY
          ? ([HOUR, 'h'] as const)
          : ([DAY, 'd'] as const);
  const amount = `${Math.floor(distance / size)} ${unit}`;
  return timeMs > nowMs ? `in ${amount}` : `${amount} ago`;
}

/**
 * A time with seconds: 21 Nov 2026, 10:30:00; with its time zone where that is UTC.
 * @param iso  as the API writes it
 */
export function exactTime(iso: string, utc: boolean): string {
  const text = EXACT[utc ? 'utc' : 'local'].format(new Date(iso));
  return utc ? `${text} UTC` : text;
}

/** A day or a month of UTC: 21 Nov 2026, Nov 2026. */
export function calendarDate(timeMs: number, unit: CalendarUnit): string {
  return (unit === 'day' ? DATE : MONTH).utc.format(timeMs);
}

/** The head of a column of such dates. */
export function calendarHead(unit: CalendarUnit): string {
  return unit === 'day' ? 'Day (UTC)' : 'Month (UTC)';
}

function dateOf(timeMs: number, utc: boolean): string {
  return DATE[utc ? 'utc' : 'local'].format(timeMs);
}

function formats(options: Intl.DateTimeFormatOptions) {
  const format = (zone: { timeZone?: string }) => new Intl.DateTimeFormat('en-GB', { ...options, ...zone });
  return { local: format({}), utc: format({ timeZone: 'UTC' }) };
}
