import { type CalendarUnit, calendarDate } from '../text/times.ts';

const DAY_SECONDS = 86_400;

/**
 * Labels of a time axis: 09:30, at midnight and at the first tick with the date in a second line; of ticks a day or
 * more apart the date only.
 * @param ticks  seconds since the epoch, in order
 */
export function tickLabels(ticks: readonly number[], utc: boolean): string[] {
  const zone = utc ? { timeZone: 'UTC' } : {};
  const time = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', ...zone });
  const date = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', ...zone });
  const isDaily = ticks.length > 1 && ticks[1]! - ticks[0]! >= DAY_SECONDS;
  return ticks.map((seconds, index) => {
    const moment = new Date(seconds * 1000);
    if (isDaily) return date.format(moment);
    const clock = time.format(moment);
    return index === 0 || clock === '00:00' ? `${clock}\n${date.format(moment)}` : clock;
  });
}

/**
 * Labels of days or months of UTC, without the year except at the first tick and where the year changes.
 * @param ticks  seconds since the epoch, in order
 */
export function calendarLabels(ticks: readonly number[], unit: CalendarUnit): string[] {
  const dates = ticks.map((seconds) => calendarDate(seconds * 1000, unit));
  const yearOf = (date: string | undefined) => date?.slice(-4);
  return dates.map((date, index) => {
    const [short, year] = [date.slice(0, -5), yearOf(date)];
    return year === yearOf(dates[index - 1]) ? short : `${short}\n${year}`;
  });
}

/**
 * The times to label of those of the bars: as many as there is space for, at equal distances, the last one always.
 * @param seconds  the starts of the bars
 * @param max      how many labels have space, 1 or more
 */
export function labelledTimes(seconds: readonly number[], max: number): number[] {
  const step = Math.max(1, Math.ceil(seconds.length / max));
  return seconds.filter((_, index) => (seconds.length - 1 - index) % step === 0);
}
