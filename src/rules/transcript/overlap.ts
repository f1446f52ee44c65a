import { NO_SPACES } from '../text/scripts.ts';

/** The texts of two neighbouring parts of the audio. */
export type Neighbours = { before: string; after: string };

/** Of one second of speech, and some more. */
const COMPARED_WORDS = 8;
/** Words that were cut, at the end of the first text and at the start of the second. */
const CUT_WORDS_MAX = 2;
/** Words at the start of the second text that were understood differently, before several common ones. */
const OTHER_WORDS_MAX = 5;
/** Shorter beginnings of a word are those of many words. */
const FRAGMENT_MIN_LETTERS = 3;

const WORD = /[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+)*/gu;

type Word = { key: string; start: number; end: number };
type Match = { inBefore: number; inAfter: number; length: number };

/**
 * Joins the texts of two parts that overlap by about a second: words that both have are left out of the second text,
 * with what is a piece of a word at the cut. Texts without a common word stay as they are: no word is lost.
 */
export function joinOverlapping({ before, after }: Neighbours): Neighbours {
  const all = wordsOf(before);
  const tail = all.slice(-COMPARED_WORDS);
  const head = wordsOf(after).slice(0, COMPARED_WORDS);
  const match = longestMatch(tail, head);
  if (match === null) return { before, after };
  const keptEnd = tail[match.inBefore + match.length - 1]!;
  const droppedEnd = head[match.inAfter + match.length - 1]!;
  // The first text ends in the middle of a word where the second has the whole of it.
  const isFragment = droppedEnd.key.length > keptEnd.key.length;
  const last = after.slice(droppedEnd.start, droppedEnd.end);
  const kept = isFragment ? before.slice(0, keptEnd.start) + last : before.slice(0, keptEnd.end);
  const rest = after.slice(droppedEnd.end);
  const punctuation = /^[^\s\p{L}\p{M}\p{N}]*/u.exec(rest)![0];
  return { before: kept + punctuation, after: rest.slice(punctuation.length).trim() };
}

function wordsOf(text: string): Word[] {
  return [...text.matchAll(WORD)].flatMap(({ 0: word, index }) => {
    if (!NO_SPACES.test(word)) return [{ key: word.toLowerCase(), start: index, end: index + word.length }];
    let start = index;
    return Array.from(word, (key) => {
      const one = { key, start, end: start + key.length };
      start = one.end;
      return one;
    });
  });
}

/** The longest run of words that the end of one text and the start of the next have in common; null when none is. */
function longestMatch(tail: Word[], head: Word[]): Match | null {
  let best: Match | null = null;
  for (let inBefore = 0; inBefore < tail.length; inBefore += 1) {
    for (let inAfter = 0; inAfter < head.length; inAfter += 1) {
      const length = commonWords(tail.slice(inBefore), head.slice(inAfter));
      const left = tail.length - inBefore - length;
      const isNear = left <= CUT_WORDS_MAX && inAfter <= (length > 1 ? OTHER_WORDS_MAX : CUT_WORDS_MAX);
      if (length > 0 && isNear && length > (best?.length ?? 0)) best = { inBefore, inAfter, length };
    }
  }
  return best;
}

function commonWords(tail: Word[], head: Word[]): number {
  let length = 0;
  while (length < tail.length && length < head.length && isSame(tail, head, length)) length += 1;
  return length;
}

/** The last word of the first text may be the beginning of a word, the first word of the second its end. */
function isSame(tail: Word[], head: Word[], at: number): boolean {
  const [one, other] = [tail[at]!.key, head[at]!.key];
  if (one === other) return true;
  if (Math.min(one.length, other.length) < FRAGMENT_MIN_LETTERS) return false;
  return (at === tail.length - 1 && other.startsWith(one)) || (at === 0 && one.endsWith(other));
}
