import type { Segment, Word } from './engine.ts';

// Shorter gaps occur between the words of a sentence.
const PAUSE_SECONDS = 0.5;
const SENTENCE_END = /[.?!。？！]["')\]]?$/;
const HAS_NO_SPACES = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/** Groups words into segments; a segment ends at a pause of more than 0.5 s and at the end of a sentence. */
export function segmentWords(words: Word[]): Segment[] {
  const groups: Word[][] = [];
  for (const word of words) {
    const last = groups.at(-1)?.at(-1);
    if (last === undefined || isBreak(last, word)) groups.push([word]);
    else groups.at(-1)!.push(word);
  }
  return groups.map(segmentOf);
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

function segmentOf(words: Word[]): Segment {
  return {
    text: words.reduce((text, word) => text + gapBefore(text, word) + word.text, ''),
    startSeconds: words[0]!.startSeconds,
    endSeconds: words.at(-1)!.endSeconds,
    confidence: meanConfidence(words.map((word) => word.confidence)),
    words,
  };
}

function gapBefore(text: string, word: Word): string {
  return text === '' || HAS_NO_SPACES.test(word.text) ? '' : ' ';
}
