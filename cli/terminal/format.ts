import type { Part } from './part.ts';

/** Seconds as `12:41` or `1:02:03`; a dash for null. */
export function clockTime(seconds: number | null): string {
  if (seconds === null) return '-';
  const whole = Math.floor(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  const twoDigits = (value: number) => String(value).padStart(2, '0');
  const rest = twoDigits(whole % 60);
  return hours > 0 ? `${hours}:${twoDigits(minutes)}:${rest}` : `${minutes}:${rest}`;
}

/** Credits with at most four decimals; a dash for null. */
export function credits(amount: number | null): string {
  return amount === null ? '-' : `${Number(amount.toFixed(4))}`;
}

/** Bytes as `1.5 MB`. */
export function fileSize(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[power]}`;
}

/** A state of a job, webhook or delivery in its color. */
export function state(text: string): Part {
  if (['completed', 'succeeded', 'active', 'ok'].includes(text)) return { text, style: 'green' };
  if (['failed', 'disabled', 'dropped', 'fail'].includes(text)) return { text, style: 'red' };
  return { text, style: 'yellow' };
}

/** Lines of names and values, with the values in one column. Null values are left out. */
export function facts(entries: [name: string, value: Part | number | null][]): Part[][] {
  const shown = entries.filter(([, value]) => value !== null && value !== '');
  const width = Math.max(0, ...shown.map(([name]) => name.length));
  return shown.map(([name, value]) => [
    { text: `${name.padEnd(width)}  `, style: 'dim' },
    typeof value === 'number' ? String(value) : value!,
  ]);
}
