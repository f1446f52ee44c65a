/** What the text of a piece says about its completeness. */
export type TextAmount =
  /** As much text as such speech has. */
  | 'enough'
  /** No word at all, though there is speech. */
  | 'none'
  /** Some words, but far fewer than the slowest speaker says in that time. */
  | 'little'
  /** More than the fastest speaker says in that time. */
  | 'much';

// Speech has some 11 letters a second between its pauses, at half its tempo 6; a text that ends after a third of its
// piece has less than 4. Below 4 s of speech a single short word may be all that was said.
const LEAST = { perSecond: 4, fromSeconds: 4 };
// Where the engine wrote errors, less than at half the tempo is little, however short the speech.
const LEAST_AFTER_ERRORS = { perSecond: 6, fromSeconds: 0 };
// Speech at three times its tempo has 35 letters a second. A model in a loop writes until its limit: 15 tokens a
// second, of about four letters.
export const MOST_LETTERS_PER_SECOND = 40;
const MUCH_FROM_SECONDS = 1;

/**
 * Compares a text with the seconds of detected speech, and with the length of the audio that it was made from.
 * @param hasErrors  the engine wrote errors while it made the text
 */
export function judgeAmount(
  text: string,
  {
    speechSeconds,
    audioSeconds,
    hasErrors = false,
  }: { speechSeconds: number; audioSeconds: number; hasErrors?: boolean },
): TextAmount {
  const letters = spokenLetters(text);
  if (letters === 0) return 'none';
  if (letters > MOST_LETTERS_PER_SECOND * Math.max(audioSeconds, MUCH_FROM_SECONDS)) return 'much';
  const least = hasErrors ? LEAST_AFTER_ERRORS : LEAST;
  return speechSeconds >= least.fromSeconds && letters < least.perSecond * speechSeconds ? 'little' : 'enough';
}

/** A syllable or a word, which takes as long to say as some three letters. */
const SYLLABLE = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]$/u;
const SYLLABLE_LETTERS = 3;
/** "7" is said as "seven". */
const DIGIT_LETTERS = 4;

/**
 * How many letters of an alphabet the text has when it is spelled as it is said. Punctuation and symbols count nothing:
 * models write notes for music.
 */
export function spokenLetters(text: string): number {
  let letters = 0;
  for (const character of text.normalize('NFC')) {
    if (SYLLABLE.test(character)) letters += SYLLABLE_LETTERS;
    else if (/^\p{L}$/u.test(character)) letters += 1;
    else if (/^\p{N}$/u.test(character)) letters += DIGIT_LETTERS;
  }
  return letters;
}
