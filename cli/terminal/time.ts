import type { Part } from './part.ts';

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const UNITS: [name: string, seconds: number][] = [
  ['y', 31_536_000],
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
];

/** A cell that is a time of the API, as `8 min ago` or `in 3 d`; any other cell as it is. */
export function relativeTime(cell: Part, now: Date): Part {
  if (typeof cell !== 'string') return { ...cell, text: relative(cell.text, now) };
  return relative(cell, now);
}

function relative(text: string, now: Date): string {
  if (!INSTANT.test(text)) return text;
  const seconds = Math.round((now.getTime() - Date.parse(text)) / 1000);
  const age = Math.abs(seconds);
  if (age < 1) return 'now';
  const [name, length] = UNITS.find((unit) => age >= unit[1])!;
  const amount = `${Math.floor(age / length)} ${name}`;
  return seconds < 0 ? `in ${amount}` : `${amount} ago`;
}
