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
