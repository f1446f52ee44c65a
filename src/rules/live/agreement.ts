/** A word that a pass over the open segment found, with its times in seconds. */
export type HeardWord = { text: string; startSeconds: number; endSeconds: number };

/** Words that do not change any more, and those of the newest pass after them. */
export type Agreed = { stable: HeardWord[]; open: HeardWord[] };

/** A repeated run of up to this number of words is what models invent in noise. */
const LOOP_MAX_WORDS = 6;
const LOOP_MAX_REPEATS = 2;

/**
 * LocalAgreement-2 (Macháček, Dabre, Bojar 2023): a word is stable once two passes in a row agree on it and on all
 * words before it. Words are compared by letters and digits, without case. A run of words is not made stable more than
 * twice in a row.
 */
export class Agreement {
  #stable: HeardWord[] = [];
  #last: HeardWord[] = [];

  /** Takes the words of a pass over the whole segment so far. */
  push(words: HeardWord[]): Agreed {
    const from = this.#stable.length;
    const agreed = sameWords(words.slice(from), this.#last.slice(from));
    for (const word of words.slice(from, from + agreed)) {
      if (repeats([...this.#stable, word])) break;
      this.#stable.push(word);
    }
    this.#last = words;
    return { stable: [...this.#stable], open: words.slice(this.#stable.length) };
  }
}

/** The number of words at the start on which both agree. */
function sameWords(one: HeardWord[], other: HeardWord[]): number {
  const limit = Math.min(one.length, other.length);
  let same = 0;
  while (same < limit && keyOf(one[same]!) === keyOf(other[same]!)) same += 1;
  return same;
}

function repeats(words: HeardWord[]): boolean {
  const keys = words.map(keyOf);
  for (let length = 1; length <= LOOP_MAX_WORDS; length++) {
    const run = keys.slice(-length).join(' ');
    let times = 1;
    while (run === keys.slice(-length * (times + 1), -length * times).join(' ')) times += 1;
    if (times > LOOP_MAX_REPEATS) return true;
  }
  return false;
}

function keyOf({ text }: HeardWord): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}
