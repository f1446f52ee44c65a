// `Date` alone would accept "1", and local times, whose meaning depends on the server's time zone.
const ISO_TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/i;

/** The time that an ISO 8601 text names: a date and a time with an offset, or a date alone (UTC). Null for anything else. */
export function parseTime(text: string): Date | null {
  const time = new Date(text);
  return ISO_TIME.test(text) && !Number.isNaN(time.getTime()) ? time : null;
}
