// To make one for each number would be a large part of the cost of a row that scrolls into view.
const NUMBER = new Intl.NumberFormat('en', { maximumFractionDigits: 2 });
const SMALL_NUMBER = new Intl.NumberFormat('en', { maximumFractionDigits: 4 });
const LEAST_SHOWN = 0.0001;

/** Seconds as a clock shows them: 0:07.5, 12:04, 1:02:03. @param digits  decimals of a second */
export function clockTime(seconds: number, digits = 0): string {
  const scale = 10 ** digits;
  const total = Math.round(seconds * scale);
  const whole = Math.floor(total / scale);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  const two = (value: number) => String(value).padStart(2, '0');
  const fraction = digits > 0 ? `.${String(total % scale).padStart(digits, '0')}` : '';
  return `${hours > 0 ? `${hours}:${two(minutes)}` : minutes}:${two(whole % 60)}${fraction}`;
}

/** A duration in ms, with tenths below 10 ms. */
export function milliseconds(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  return `${value < 9.95 ? value.toFixed(1) : NUMBER.format(Math.round(value))} ms`;
}

/** A size with a unit: 987 B, 96.4 KB, 1.2 GB. */
export function byteSize(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 || value >= 99.95 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** Credits with at most two decimals, and with at most four below one credit; smaller amounts as `< 0.0001`. */
export function credits(amount: number): string {
  const size = Math.abs(amount);
  if (size > 0 && size < LEAST_SHOWN) return amount > 0 ? '<\u00a00.0001' : '>\u00a0−0.0001';
  return (size < 1 ? SMALL_NUMBER : NUMBER).format(amount).replace('-', '−');
}

/** A path with a query; empty values are left out. */
export function withQuery(path: string, query: Record<string, string | number | null | undefined>): string {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== '');
  const text = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString();
  return text === '' ? path : `${path}?${text}`;
}
