import { safeLine } from './safe-text.ts';

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** A piece of a line: text, or text with a style. Its control characters are made visible when it is written. */
export type Part = string | { text: string; style: Style };

/** The text of a part, without its style. */
export function plainText(part: Part): string {
  return typeof part === 'string' ? part : part.text;
}

/** A line of at most this number of characters, so that it does not wrap. */
export function clip(line: Part[], columns: number): Part[] {
  let left = columns;
  return line.map((part) => {
    const text = safeLine(plainText(part)).slice(0, Math.max(0, left));
    left -= text.length;
    return typeof part === 'string' ? text : { ...part, text };
  });
}
