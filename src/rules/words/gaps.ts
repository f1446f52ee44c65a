import { clipTo, hullOf, type Interval, totalSeconds } from '../transcript/intervals.ts';
import { spokenLetters } from '../transcript/text-amount.ts';
import { findPressedWords } from './pressed-words.ts';

/** A word, or a segment whose engine gives no words. */
export type Said = Interval & { text: string; isSegment?: boolean };

/**
 * Audio without words; `from` and `to` are the first word that has no place in it or after it, and the first after it.
 */
export type Gap = Interval & { from: number; to: number };

/** Shorter pauses occur between the words of slow speakers. */
const GAP_MIN_SECONDS = 2;
/**
 * Detected speech in a gap from which it is transcribed again, and from which it is reported: the detector takes a
 * breath or a laugh for speech now and then, and of shorter speech alone a model invents words.
 */
export const GAP_SPEECH_SECONDS = { again: 1.5, reported: 1.2 };
/** So long takes a word at half the usual tempo. Whisper stretches words over what it leaves out. */
const WORD_SECONDS = { fixed: 0.3, perLetter: 0.1 };
/** A stretched word is one that covers less than its time, with so much to spare. */
const STRETCHED_SECONDS = 0.8;

/**
 * The parts of the audio in which speech was detected and no word stands. Words with impossible times stand nowhere,
 * and of a word that is stretched over seconds only the time counts that it takes to say it.
 * @param said    in the order of the text
 * @param speech  sorted
 */
export function findGaps(
  said: readonly Said[],
  speech: readonly Interval[],
  { lengthSeconds, minSpeechSeconds }: { lengthSeconds: number; minSpeechSeconds: number },
): Gap[] {
  const isPressed = findPressedWords(said.map((one) => (one.isSegment ? { ...one, text: '' } : one)));
  const gaps: Gap[] = [];
  let [start, from] = [0, 0];
  const close = (endSeconds: number, to: number) => {
    const gap = { startSeconds: start, endSeconds, from, to };
    if (endSeconds - start >= GAP_MIN_SECONDS && speechIn(gap, said, speech) >= minSpeechSeconds) gaps.push(gap);
  };
  for (const [at, one] of said.entries()) {
    if (isPressed[at]) continue;
    const isStretched = lengthOf(one) - spokenSeconds(one) > STRETCHED_SECONDS;
    // A stretched word in the middle of a gap does not end it: its time is as wrong as its length.
    if (isStretched && one.startSeconds - start > STRETCHED_SECONDS) continue;
    if (one.startSeconds > start) close(one.startSeconds, at);
    start = Math.max(start, one.startSeconds + spokenSeconds(one));
    from = at + 1;
  }
  close(lengthSeconds, said.length);
  return gaps;
}

function lengthOf({ startSeconds, endSeconds }: Interval): number {
  return endSeconds - startSeconds;
}

function spokenSeconds(one: Said): number {
  if (one.isSegment) return lengthOf(one);
  return Math.min(lengthOf(one), WORD_SECONDS.fixed + WORD_SECONDS.perLetter * spokenLetters(one.text));
}

function speechIn(gap: Gap, said: readonly Said[], speech: readonly Interval[]): number {
  const inner = said
    .slice(gap.from, gap.to)
    .map((one) => ({ ...one, endSeconds: one.startSeconds + spokenSeconds(one) }));
  const covered = hullOf(inner) === null ? 0 : totalSeconds(clipTo(gap, inner));
  return totalSeconds(clipTo(gap, speech)) - covered;
}
