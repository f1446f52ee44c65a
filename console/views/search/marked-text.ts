/** A part of a text, and whether it is marked. */
export type TextPart = { text: string; isMarked: boolean };

/**
 * Divides a text at its highlights. Highlights that overlap, or that are not in order or outside of the text, mark what
 * they cover.
 * @param highlights  start and end, in UTF-16 units
 */
export function markedParts(text: string, highlights: readonly (readonly number[])[]): TextPart[] {
  const parts: TextPart[] = [];
  let at = 0;
  const add = (to: number, isMarked: boolean) => {
    if (to > at) parts.push({ text: text.slice(at, to), isMarked });
    at = Math.max(at, to);
  };
  const sorted = highlights
    .map(([start = 0, end = 0]) => ({ start, end }))
    .sort((left, right) => left.start - right.start);
  for (const { start, end } of sorted) {
    add(Math.min(start, text.length), false);
    add(Math.min(end, text.length), true);
  }
  add(text.length, false);
  return parts;
}
