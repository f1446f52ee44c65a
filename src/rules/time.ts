// Date alone would take "1" and local times, whose meaning depends on where the server stands.
const ISO_TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/;

/** The moment that an ISO 8601 text with a zone, or a date alone (UTC), names; null for anything else. */
export function parseTime(text: string): Date | null {
  const time = new Date(text);
  return ISO_TIME.test(text) && !Number.isNaN(time.getTime()) ? time : null;
}
