import { NO_SPACES } from './scripts.ts';
import type { Place } from './word-places.ts';

/** The letters and digits of a text without their case, and where each unit of them stands in the text. */
export type Letters = { key: string; at: number[] };

/** Of the signs after a word. */
const SIGNS_MAX_CHARS = 64;
/** A short text stands elsewhere by chance: it is looked for within so many letters for each of its own. */
const REACH_PER_LETTER = 10;
/** Two texts in a row are looked for within so many. */
const REACH_OF_PAIR = 1000;

/** What texts are compared by: signs and blanks may differ. */
export function lettersOf(text: string): Letters {
  const at: number[] = [];
  let key = '';
  for (const { 0: letter, index } of text.matchAll(/[\p{L}\p{M}\p{N}]/gu)) {
    const lower = letter.toLowerCase();
    key += lower.length === letter.length ? lower : letter;
    for (let unit = 0; unit < letter.length; unit += 1) at.push(index + unit);
  }
  return { key, at };
}

/**
 * Where the parts of a text stand in it, in their order and with the signs that they share with it. Null for a part
 * that is not there, or stands before the part before it: the text may lack parts, and have others.
 */
export function placeByLetters(text: string, parts: readonly string[]): (Place | null)[] {
  const letters = lettersOf(text);
  const keys = parts.map((part) => lettersOf(part).key);
  const following = keys.map((_, at) => at);
  for (let at = keys.length - 1, next = keys.length; at >= 0; at -= 1) {
    following[at] = next;
    if (keys[at] !== '') next = at;
  }
  let position = 0;
  let end = 0;
  return keys.map((key, at) => {
    const limit = (from: number) => letters.at[from] ?? text.length;
    if (key === '') {
      const sign = parts[at]!.trim();
      const found = sign === '' ? -1 : text.slice(end, limit(position)).indexOf(sign);
      if (found === -1) return null;
      const start = end + found;
      end = start + sign.length;
      return { start, end };
    }
    const found = find({ text, ...letters }, position, { key, nextKey: keys[following[at]!] ?? '' });
    if (found === -1) return null;
    position = found + key.length;
    const place = { start: letters.at[found]!, end: letters.at[position - 1]! + 1 };
    const widened = withSigns(text, place, { part: parts[at]!.trim(), from: end, to: limit(position) });
    end = widened.end;
    return widened;
  });
}

/** The position in the letters where the part stands; -1 for none. */
function find(
  { text, key, at }: Letters & { text: string },
  position: number,
  part: { key: string; nextKey: string },
): number {
  if (key.startsWith(part.key, position)) return position;
  // The part is not of the text: the next one goes on where the last one ended.
  if (part.nextKey !== '' && key.startsWith(part.nextKey, position)) return -1;
  const search = (wanted: string, reach: number) => {
    const near = key.slice(position, position + reach + wanted.length);
    for (let found = near.indexOf(wanted); found !== -1; found = near.indexOf(wanted, found + 1)) {
      if (beginsWord(text, at[position + found]!)) return position + found;
    }
    return -1;
  };
  const found = search(part.key, REACH_PER_LETTER * part.key.length);
  return found === -1 ? search(part.key + part.nextKey, REACH_OF_PAIR) : found;
}

function beginsWord(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 2), at);
  return !/[\p{L}\p{M}\p{N}]$/u.test(before) || NO_SPACES.test(before);
}

/** With the signs of the part before its first letter and after its last, where the text has the same. */
function withSigns(text: string, place: Place, { part, from, to }: { part: string; from: number; to: number }): Place {
  const before = /^[^\p{L}\p{M}\p{N}]*/u.exec(part)![0];
  const after = /[^\p{L}\p{M}\p{N}]*$/u.exec(part.slice(-SIGNS_MAX_CHARS))![0];
  const start = place.start - before.length;
  const end = place.end + after.length;
  return {
    start: start >= from && text.startsWith(before, start) ? start : place.start,
    end: end <= to && text.startsWith(after, place.end) ? end : place.end,
  };
}
