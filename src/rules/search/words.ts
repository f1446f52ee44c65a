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

/**
 * The form in which words are compared: compatible characters are one, and upper and lower case, with the special cases
 * of German, Greek and Turkish. The same on every database, whose own case folding depends on its locale.
 */
function foldWord(word: string): string {
  const folded = word.normalize('NFKC').toUpperCase().toLowerCase();
  return folded.replaceAll('i\u0307', 'i').replaceAll('ς', 'σ').slice(0, MAX_WORD_CHARS).toWellFormed();
}
