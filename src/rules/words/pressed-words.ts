import { MOST_LETTERS_PER_SECOND, spokenLetters } from '../transcript/text-amount.ts';

type Timed = { text: string; startSeconds: number; endSeconds: number };

/** Fewer words may have their times by chance. */
const RUN_MIN_WORDS = 3;

/**
 * For each word, whether it is in a run of words that nobody says in their time: Whisper gives words that it could not
 * place no length, one after the other. Their times say nothing.
 */
export function findPressedWords(words: readonly Timed[]): boolean[] {
  const isPressed = words.map(() => false);
  for (let from = 0; from + RUN_MIN_WORDS <= words.length; from += 1) {
    const run = words.slice(from, from + RUN_MIN_WORDS);
    const letters = run.reduce((sum, { text }) => sum + spokenLetters(text), 0);
    const seconds = run.at(-1)!.endSeconds - run[0]!.startSeconds;
    if (letters > MOST_LETTERS_PER_SECOND * seconds) isPressed.fill(true, from, from + RUN_MIN_WORDS);
  }
  return isPressed;
}
