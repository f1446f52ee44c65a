import { NO_SPACES } from './scripts.ts';

/** Where a part of a text begins and ends, in UTF-16 units. */
export type Place = { start: number; end: number };

const LETTER = /[\p{L}\p{M}\p{N}]/u;
const ENDS_IN_LETTER = /[\p{L}\p{M}\p{N}]$/u;
const UP_TO_LAST_LETTER = /^.*[\p{L}\p{M}\p{N}]/su;
// Signs after a word without a space belong to it, such as a full stop, and the signs that French writes after one.
const CLOSING_SIGNS = /^(?:[\p{P}\p{S}]*(?:[\s\u00a0\u202f][!?:;»]+)?(?=\s|$)|[\p{Po}\p{Pe}\p{Pf}]*)/u;

/**
 * Where the words of an engine stand in its text, in their order. The text may have signs and whole words that are none
 * of the words. Null when a word is not in the text.
 */
export function placeWords(text: string, words: readonly { text: string }[]): Place[] | null {
  let position = 0;
  const places: Place[] = [];
  for (const word of words) {
    const wanted = word.text.trim();
    const start = findFrom(text, wanted, position);
    if (start === -1) return null;
    position = start + wanted.length;
    places.push({ start, end: position });
  }
  return places;
}

/** The first occurrence that goes on where the word before ended, or begins a word. */
function findFrom(text: string, wanted: string, position: number): number {
  for (let at = text.indexOf(wanted, position); at !== -1; at = text.indexOf(wanted, at + 1)) {
    const before = text.slice(Math.max(0, at - 2), at);
    const beginsWord = !ENDS_IN_LETTER.test(before) || NO_SPACES.test(before);
    if (beginsWord || !LETTER.test(text.slice(position, at))) return at;
  }
  return -1;
}

/**
 * All of a text as one part for each of its words, in their order: a part ends after the signs that follow its word,
 * and after words that have no place.
 */
export function partsOfText(text: string, places: readonly Place[]): string[] {
  let start = 0;
  return places.map(({ end }, at) => {
    const next = places[at + 1];
    const cut = next === undefined ? text.length : endOfPart(text, { start: end, end: next.start });
    const part = text.slice(start, cut);
    start = cut;
    return part;
  });
}

function endOfPart(text: string, gap: Place): number {
  const lettersEnd = gap.start + (UP_TO_LAST_LETTER.exec(text.slice(gap.start, gap.end))?.[0].length ?? 0);
  const signs = CLOSING_SIGNS.exec(text.slice(lettersEnd))![0].length;
  return Math.min(gap.end, lettersEnd + signs);
}

/**
 * The text of some words of an engine, cut out of its own text. Words that are not those of the text are joined.
 * @param isKept  by the position of the word
 */
export function textOfWords(text: string, words: readonly { text: string }[], isKept: (at: number) => boolean): string {
  const places = placeWords(text, words);
  if (places === null) return joinWords(words.filter((_, at) => isKept(at)));
  return partsOfText(text, places)
    .filter((_, at) => isKept(at))
    .join('')
    .trim();
}

/** Words as a text, where there is no other: with spaces, but before writing without spaces. */
export function joinWords(words: readonly { text: string }[]): string {
  return words
    .map(({ text }) => (NO_SPACES.test(text) ? text.trim() : ` ${text.trim()}`))
    .join('')
    .trim();
}
