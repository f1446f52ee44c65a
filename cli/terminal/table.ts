import { type Part, plainText } from './part.ts';
import { safeLine } from './safe-text.ts';

const GAP = '  ';
const MIN_LAST_WIDTH = 10;

/**
 * Rows whose cells are padded to the width of their column.
 * @param maxWidth  characters of a line; the last column is cut in its middle to fit, unless two of its texts would
 *                  look the same: then it is not cut
 */
export function alignColumns(rows: Part[][], maxWidth?: number): Part[][] {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, at) => Math.max(...rows.map((row) => widthOf(row[at] ?? ''))));
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + GAP.length, 0);
  const lastWidth = maxWidth === undefined ? Number.POSITIVE_INFINITY : Math.max(MIN_LAST_WIDTH, maxWidth - before);
  const last = rows.map((row) => row[columns - 1] ?? '');
  const isCut = countTexts(last.map((cell) => cut(cell, lastWidth))) === countTexts(last);
  return rows.map(withoutEmptyEnd).map((row) =>
    row.flatMap((cell, at) => {
      if (at === columns - 1) return [isCut ? cut(cell, lastWidth) : cell];
      if (at === row.length - 1) return [cell];
      return [cell, ' '.repeat(widths[at]! - widthOf(cell)) + GAP];
    }),
  );
}

function countTexts(parts: Part[]): number {
  return new Set(parts.map(plainText)).size;
}

function withoutEmptyEnd(row: Part[]): Part[] {
  return row.slice(0, row.findLastIndex((cell) => plainText(cell) !== '') + 1);
}

function widthOf(part: Part): number {
  return [...safeLine(plainText(part))].length;
}

function cut(part: Part, width: number): Part {
  const characters = [...safeLine(plainText(part))];
  if (characters.length <= width) return part;
  const begin = Math.ceil((width - 1) / 2);
  const end = characters.slice(characters.length - (width - 1 - begin));
  const text = `${characters.slice(0, begin).join('')}…${end.join('')}`;
  return typeof part === 'string' ? text : { ...part, text };
}
