import type { Transcript } from '#sdk/api.ts';

/** A part of a long text. */
export type TextPage = { text: string; from: number; to: number; total: number };

/** A transcript with a line for each segment: its start, its speaker where it has one, and its text. */
export function timedLines({ segments }: Pick<Transcript, 'segments'>): string {
  return segments
    .map(({ start, speaker, text }) => `[${clockTime(start)}] ${speaker ? `${speaker}: ` : ''}${text.trim()}\n`)
    .join('');
}

/**
 * At most `maxChars` characters from `from` on. A page ends after a line where it can, else after a word, and never
 * within a character.
 */
export function pageOf(text: string, from: number, maxChars: number): TextPage {
  const start = Math.min(from, text.length);
  const page = text.slice(start, start + maxChars);
  const isLast = start + page.length === text.length;
  const cut = isLast ? page.length : endOfPage(page);
  return { text: page.slice(0, cut), from: start, to: start + cut, total: text.length };
}

function endOfPage(page: string): number {
  const half = page.length / 2;
  const line = page.lastIndexOf('\n') + 1;
  if (line > half) return line;
  const word = page.lastIndexOf(' ') + 1;
  if (word > half) return word;
  return /[\ud800-\udbff]$/.test(page) && page.length > 1 ? page.length - 1 : page.length;
}

/** `0:12:41` */
function clockTime(seconds: number): string {
  const whole = Math.floor(seconds);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${Math.floor(whole / 3600)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`;
}
