import { NO_SPACES, wordSegments } from '../text/scripts.ts';

/** A word of a text: folded for comparison, and where it stands, in UTF-16 units. */
export type TextWord = { word: string; start: number; end: number };

const WORD = /[\p{L}\p{M}\p{N}]+/gu;
// PostgreSQL refuses words of more than 2,046 bytes.
const MAX_WORD_CHARS = 100;

/**
 * The words of a text, in order: runs of letters, marks and digits. Text in a script without spaces is split with the
 * dictionaries of ICU.
 */
export function wordsIn(text: string): TextWord[] {
  const words: TextWord[] = [];
  for (const match of text.matchAll(WORD)) {
    const [run] = match;
    if (NO_SPACES.test(run)) words.push(...splitRun(run, match.index));
    else words.push(wordAt(run, match.index));
  }
  return words;
}

function splitRun(run: string, offset: number): TextWord[] {
  const parts = wordSegments(run).filter(({ isWordLike }) => isWordLike);
  return parts.map(({ segment, index }) => wordAt(segment, offset + index));
}

function wordAt(run: string, start: number): TextWord {
  return { word: foldWord(run), start, end: start + run.length };
}

/** Letters whose accent is a part of them, which Unicode does not take apart. */
const WITHOUT_STROKE = new Map(
  ['øo', 'łl', 'đd', 'ðd', 'ħh', 'ŧt', 'æae', 'œoe', 'þth'].map((pair) => [pair[0]!, pair.slice(1)]),
);
const STROKES = new RegExp(`[${[...WITHOUT_STROKE.keys()].join('')}]`, 'gu');
// The test costs less than to normalise.
const NOT_ASCII = /[^\0-\x7f]/u;
/** The accents of Latin, Greek and Cyrillic. The marks of other scripts are vowels and consonants. */
const ACCENTS = /[\u0300-\u036f]/gu;

/** A folded word without its accents, such as zurich for zürich; most words are their own. */
export function withoutAccents(word: string): string {
  if (!NOT_ASCII.test(word)) return word;
  const plain = word.normalize('NFD').replace(ACCENTS, '').normalize('NFC');
  return plain
    .replace(STROKES, (letter) => WITHOUT_STROKE.get(letter)!)
    .slice(0, MAX_WORD_CHARS)
    .toWellFormed();
}

/**
 * The form in which words are compared: compatible characters are one, and upper and lower case, with the special cases
 * of German, Greek and Turkish. The same on every database, whose own case folding depends on its locale.
 */
function foldWord(word: string): string {
  const folded = word.normalize('NFKC').toUpperCase().toLowerCase();
  return folded.replaceAll('i\u0307', 'i').replaceAll('ς', 'σ').slice(0, MAX_WORD_CHARS).toWellFormed();
}
