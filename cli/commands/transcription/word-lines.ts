import type { Job } from '#sdk/wire.ts';
import { clockTime } from '../../terminal/format.ts';

/**
 * A line for each word of a job: start, end and the word, `0:03.24  0:03.60  morning`. A segment without times of
 * words, which not every engine has, is one line.
 */
export function wordLines({ segments, text }: Pick<Job, 'segments' | 'text'>): string {
  if (!segments) return `${text ?? ''}\n`;
  const entries = segments.flatMap((segment) => (segment.words?.length ? segment.words : [segment]));
  return entries.map(({ start, end, text }) => `${exactTime(start)}  ${exactTime(end)}  ${text}\n`).join('');
}

/** Seconds as `1:02:03.45`. */
function exactTime(seconds: number): string {
  const hundredths = Math.round(seconds * 100);
  return `${clockTime(Math.floor(hundredths / 100))}.${String(hundredths % 100).padStart(2, '0')}`;
}
