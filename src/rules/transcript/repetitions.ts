import { NO_SPACES } from '../text/scripts.ts';

/**
 * Text that repeats itself as no speaker does: positions of characters.
 * @property start      where the first repetition begins
 * @property keptEnd    where the first one ends, which is kept
 * @property end        where the last one ends
 */
export type Repetition = { start: number; keptEnd: number; end: number };

// "No, no, no!" and a crowd that chants three or four times are speech. A model in a loop repeats to its limit.
const TIMES_OF_SHORT = 8;
const TIMES_OF_LONG = 5;
const SHORT_WORDS = 2;
/** Of phrases that people rarely repeat so: poems and crowds do, "half a league, half a league, half a league". */
const TIMES_OF_SUSPECTED = 3;
const SUSPECTED_FROM_WORDS = 3;
/** Of writing without blanks, in which a token is one character. */
const SHORT_CHARACTERS = 4;
/** People read out long rows of digits and letters. */
const TIMES_OF_SPELLED = 20;
const UNIT_MAX_TOKENS = 24;
/** A longer word is "hahaha…", and is compared by its letters. */
const WORD_MAX_LETTERS = 30;
/** Bounds the work: no piece has this number of words. */
const TOKENS_MAX = 10_000;

const WORD = /[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}\p{N}]+)*/gu;

type Token = { key: string; start: number; end: number; isCharacter: boolean };

/** Whether a text repeats itself so that another try may show that it is a loop: a speaker may also have done so. */
export function mayRepeat(text: string): boolean {
  const tokens = tokensOf(text).slice(0, TOKENS_MAX);
  return tokens.some((_, at) => longestRun(tokens, at, timesToSuspect) !== null);
}

/** The phrase of three words or more that is repeated most in a row, for `countPhrase`; null where none is. */
export function repeatedPhrase(text: string): { phrase: string; times: number } | null {
  const tokens = tokensOf(text).slice(0, TOKENS_MAX);
  const timesOfPhrase = (unit: Token[]) => (unit.length < SUSPECTED_FROM_WORDS ? Number.POSITIVE_INFINITY : 2);
  let most: { phrase: string; times: number } | null = null;
  for (let at = 0; at < tokens.length; ) {
    const run = longestRun(tokens, at, timesOfPhrase) ?? { unit: 1, tokens: 1 };
    const times = Math.floor(run.tokens / run.unit);
    if (times > (most?.times ?? 1)) most = { phrase: phraseOf(tokens.slice(at, at + run.unit)), times };
    at += run.tokens;
  }
  return most;
}

/** How often a text has a phrase, in a row or not. */
export function countPhrase(phrase: string, text: string): number {
  return phraseOf(tokensOf(text)).split(phrase).length - 1;
}

/** Whether a text of several words stands in another one too. */
export function isCopyOf(text: string, other: string): boolean {
  const tokens = tokensOf(text);
  return tokens.length >= SUSPECTED_FROM_WORDS && phraseOf(tokensOf(other)).includes(phraseOf(tokens));
}

function phraseOf(tokens: Token[]): string {
  return tokens.map(({ key }) => `[${key}]`).join('');
}

/**
 * The repetitions in a text that no speaker makes, in order, none inside another.
 * @param isLoop  the text is known to be a loop: those that a speaker may make count too
 */
export function findRepetitions(text: string, isLoop = false): Repetition[] {
  const tokens = tokensOf(text).slice(0, TOKENS_MAX);
  const found: Repetition[] = [];
  for (let at = 0; at < tokens.length; ) {
    const run = longestRun(tokens, at, isLoop ? timesToSuspect : timesOf);
    if (run === null) at += 1;
    else {
      const past = at + run.tokens;
      found.push({
        start: tokens[at]!.start,
        keptEnd: tokens[at + run.unit - 1]!.end,
        end: tokens[past - 1]!.end,
      });
      at = past;
    }
  }
  return found;
}

function tokensOf(text: string): Token[] {
  return [...text.matchAll(WORD)].flatMap(({ 0: word, index }) => {
    if (word.length <= WORD_MAX_LETTERS && !NO_SPACES.test(word)) {
      return [{ key: keyOf(word), start: index, end: index + word.length, isCharacter: false }];
    }
    let start = index;
    return Array.from(word, (character) => {
      const token = { key: keyOf(character), start, end: start + character.length, isCharacter: true };
      start = token.end;
      return token;
    });
  });
}

function keyOf(word: string): string {
  return word.normalize('NFKC').toLowerCase();
}

/** The repetition from a token on that covers most; null when nothing is repeated too often. */
function longestRun(tokens: Token[], at: number, timesOfUnit: typeof timesOf): { unit: number; tokens: number } | null {
  let longest: { unit: number; tokens: number } | null = null;
  for (let unit = 1; unit <= UNIT_MAX_TOKENS && at + unit < tokens.length; unit += 1) {
    let end = at + unit;
    while (end < tokens.length && tokens[end]!.key === tokens[end - unit]!.key) end += 1;
    const times = Math.floor((end - at) / unit);
    if (times < 2 || times < timesOfUnit(tokens.slice(at, at + unit))) continue;
    // A loop ends in the middle of its words where the model's limit or the piece ends.
    const covered = end === tokens.length ? end - at : times * unit;
    if (longest === null || covered > longest.tokens) longest = { unit, tokens: covered };
  }
  return longest;
}

function timesToSuspect(unit: Token[]): number {
  const isPhrase = unit.length >= SUSPECTED_FROM_WORDS && !unit[0]!.isCharacter && !isSpelled(unit);
  return isPhrase ? TIMES_OF_SUSPECTED : timesOf(unit);
}

/** How often the unit has to be repeated before it counts as a loop. */
function timesOf(unit: Token[]): number {
  const isCharacters = unit[0]!.isCharacter;
  if (!isCharacters && isSpelled(unit)) return TIMES_OF_SPELLED;
  return unit.length <= (isCharacters ? SHORT_CHARACTERS : SHORT_WORDS) ? TIMES_OF_SHORT : TIMES_OF_LONG;
}

function isSpelled(unit: Token[]): boolean {
  return unit.every(({ key }) => /^(?:\p{N}+|\p{L})$/u.test(key));
}
