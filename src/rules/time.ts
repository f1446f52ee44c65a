// `Date` alone would accept "1", and local times, whose meaning depends on the server's time zone.
const ISO_TIME = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/i;

/**
 * The time that an ISO 8601 text names: a date and a time with an offset, or a date alone (UTC). Null for anything
 * else, days that their month does not have included.
 */
export function parseTime(text: string): Date | null {
  const [, day] = ISO_TIME.exec(text) ?? [];
  const time = new Date(text);
  return day !== undefined && isDay(day) && !Number.isNaN(time.getTime()) ? time : null;
}

/** `Date` takes 30 February for 2 March. */
function isDay(day: string): boolean {
  const midnight = new Date(day);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day);
}
