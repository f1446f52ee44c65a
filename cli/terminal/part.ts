export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** A piece of a line: text, or text with a style. Its control characters are made visible when it is written. */
export type Part = string | { text: string; style: Style };

/** The text of a part, without its style. */
export function plainText(part: Part): string {
  return typeof part === 'string' ? part : part.text;
}
