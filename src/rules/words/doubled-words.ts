import { findPressedWords } from './pressed-words.ts';

type Timed = { text: string; startSeconds: number; endSeconds: number };
type Compared<Word> = { word: Word; key: string; middle: number; isPressed: boolean };

/** Words are compared so far from the cut: the overlap on each side of it, and as much for wrong times. */
const REACH_SECONDS = 1;
/** The same word has times in both parts that differ by less. */
const APART_MAX_SECONDS = 0.5;
/** Shorter beginnings of a word are those of many words. */
const FRAGMENT_MIN_LETTERS = 3;

/**
 * The words of two neighbouring parts of the audio, which overlap, that are not kept. A word that both parts have is
 * kept in the part on whose side of the cut it lies. A word beyond the cut that the other part does not have is left
 * out where the other part keeps another word at its time: there it was understood differently. All other words are
 * kept.
 * @param cutSeconds  the middle of the overlap; times are those of the audio
 */
export function findDoubled<Word extends Timed>(
  { before, after }: { before: readonly Word[]; after: readonly Word[] },
  cutSeconds: number,
): Set<Word> {
  const tail = compared(before).filter(({ word }) => word.endSeconds > cutSeconds - REACH_SECONDS);
  const head = compared(after).filter(({ word }) => word.startSeconds < cutSeconds + REACH_SECONDS);
  const dropped = new Set<Word>();
  const paired = new Set<Word>();
  const pairs = commonWords(tail, head);
  // In order: after the first pair that is kept in the second part, all are.
  const change = pairs.findIndex(([one, other]) => ![one, other].some((word) => isBefore(word, cutSeconds)));
  for (const [at, [one, other]] of pairs.entries()) {
    const isInBefore = change === -1 || at < change;
    const isKeptBefore = one.key.length === other.key.length ? isInBefore : one.key.length > other.key.length;
    dropped.add(isKeptBefore ? other.word : one.word);
    paired.add(one.word).add(other.word);
  }
  const isBeyond = {
    tail: ({ word, middle }: Compared<Word>) => !paired.has(word) && middle >= cutSeconds,
    head: ({ word, middle }: Compared<Word>) => !paired.has(word) && middle < cutSeconds,
  };
  const keptHead = head.filter((one) => !dropped.has(one.word) && !isBeyond.head(one));
  for (const one of tail.filter(isBeyond.tail)) if (isSaidOtherwise(one, keptHead)) dropped.add(one.word);
  const keptTail = tail.filter((one) => !dropped.has(one.word));
  for (const one of head.filter(isBeyond.head)) if (isSaidOtherwise(one, keptTail)) dropped.add(one.word);
  return dropped;
}

function isBefore<Word>({ middle, isPressed }: Compared<Word>, cutSeconds: number): boolean {
  return middle < cutSeconds && !isPressed;
}

function compared<Word extends Timed>(words: readonly Word[]): Compared<Word>[] {
  const isPressed = findPressedWords(words);
  return words.map((word, at) => ({
    word,
    key: word.text.toLowerCase().replace(/[^\p{L}\p{M}\p{N}]/gu, ''),
    middle: (word.startSeconds + word.endSeconds) / 2,
    isPressed: isPressed[at]!,
  }));
}

/** The longest row of the same words in both, in order: the pairs of these. */
function commonWords<Word extends Timed>(tail: Compared<Word>[], head: Compared<Word>[]) {
  const lengths = Array.from({ length: tail.length + 1 }, () => new Array<number>(head.length + 1).fill(0));
  const isPair = (i: number, j: number) =>
    isSame(tail[i]!, head[j]!, { isLast: i === tail.length - 1, isFirst: j === 0 });
  for (let i = tail.length - 1; i >= 0; i -= 1) {
    for (let j = head.length - 1; j >= 0; j -= 1) {
      const [without, withPair] = [Math.max(lengths[i + 1]![j]!, lengths[i]![j + 1]!), lengths[i + 1]![j + 1]! + 1];
      lengths[i]![j] = isPair(i, j) ? Math.max(without, withPair) : without;
    }
  }
  const pairs: [Compared<Word>, Compared<Word>][] = [];
  for (let [i, j] = [0, 0]; i < tail.length && j < head.length; ) {
    if (isPair(i, j) && lengths[i]![j] === lengths[i + 1]![j + 1]! + 1) pairs.push([tail[i++]!, head[j++]!]);
    else if (lengths[i + 1]![j]! >= lengths[i]![j + 1]!) i += 1;
    else j += 1;
  }
  return pairs;
}

/** The last word of the first part may be the beginning of a word, the first word of the second its end. */
function isSame<Word extends Timed>(
  one: Compared<Word>,
  other: Compared<Word>,
  { isLast, isFirst }: { isLast: boolean; isFirst: boolean },
): boolean {
  const isNear = Math.abs(one.middle - other.middle) < APART_MAX_SECONDS;
  if (one.key === '' || !(isNear || one.isPressed || other.isPressed)) return false;
  if (one.key === other.key) return true;
  if (Math.min(one.key.length, other.key.length) < FRAGMENT_MIN_LETTERS) return false;
  return (isLast && other.key.startsWith(one.key)) || (isFirst && one.key.endsWith(other.key));
}

/** Words whose times say nothing are not at the time of another. */
function isSaidOtherwise<Word extends Timed>(one: Compared<Word>, others: Compared<Word>[]): boolean {
  if (one.isPressed) return false;
  const { startSeconds, endSeconds } = one.word;
  return others.some(({ word }) => word.startSeconds <= endSeconds && word.endSeconds >= startSeconds);
}
