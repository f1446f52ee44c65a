import { textOfWords } from '../rules/text/word-places.ts';
import type { Segment, Word } from './engine.ts';

// Shorter gaps occur between the words of a sentence.
const PAUSE_SECONDS = 0.5;
const SENTENCE_END = /[.?!。？！]["')\]]?$/;

/**
 * Groups the words of a text into segments; a segment ends at a pause of more than 0.5 s and at the end of a sentence.
 * Together the segments have all of the text.
 */
export function segmentWords(text: string, words: Word[]): Segment[] {
  const starts = words.flatMap((word, at) => (at === 0 || isBreak(words[at - 1]!, word) ? [at] : []));
  return starts.map((start, group) => {
    const end = starts[group + 1] ?? words.length;
    const own = words.slice(start, end);
    return {
      text: textOfWords(text, words, (at) => at >= start && at < end),
      startSeconds: own[0]!.startSeconds,
      endSeconds: own.at(-1)!.endSeconds,
      confidence: meanConfidence(own.map((word) => word.confidence)),
      words: own,
    };
  });
}

/** The segment with some of its words, and their part of its text; null where that has none. */
export function keepWords(segment: Segment, isKept: (word: Word, at: number) => boolean): Segment | null {
  const { text, words } = segment;
  const kept = words.filter((word, at) => isKept(word, at));
  const [first, last] = [kept[0], kept.at(-1)];
  if (kept.length === words.length) return segment;
  if (first === undefined || last === undefined) return null;
  return {
    ...segment,
    text: textOfWords(text, words, (at) => isKept(words[at]!, at)),
    startSeconds: first === words[0] ? segment.startSeconds : first.startSeconds,
    endSeconds: last === words.at(-1) ? segment.endSeconds : last.endSeconds,
    words: kept,
  };
}

/** The mean of several confidences; null when there are none or one of them is null. */
export function meanConfidence(confidences: (number | null)[]): number | null {
  const known = confidences.filter((confidence) => confidence !== null);
  if (known.length === 0 || known.length < confidences.length) return null;
  const mean = known.reduce((sum, one) => sum + one, 0) / known.length;
  return Math.round(Math.min(1, Math.max(0, mean)) * 1000) / 1000;
}

function isBreak(last: Word, next: Word): boolean {
  return next.startSeconds - last.endSeconds > PAUSE_SECONDS || SENTENCE_END.test(last.text);
}
