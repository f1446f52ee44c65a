/**
 * Seconds from the text of a link or a field: `83.4`, `1:23.4`, `1:02:03`. Null for anything else.
 */
export function readSeconds(text: string): number | null {
  const parts = /^(?:(?:(\d{1,3}):)?([0-5]?\d):)?(\d{1,6}(?:\.\d{1,3})?)$/.exec(text.trim());
  if (!parts) return null;
  const [, hours = '0', minutes, seconds] = parts;
  if (minutes !== undefined && Number(seconds) >= 60) return null;
  return Number(hours) * 3600 + Number(minutes ?? 0) * 60 + Number(seconds);
}

/** A time as links have it: tenths of a second, rounded down, so that the link does not miss the start of a word. */
export function linkSeconds(seconds: number): number {
  return Math.floor(seconds * 10) / 10;
}
