import { joinOverlapping } from '../../rules/transcript/overlap.ts';
import type { Segment, Word } from '../engine.ts';
import { segmentWords } from '../segments.ts';
import type { Heard } from './heard.ts';

/**
 * Two neighbours whose audio overlaps, without the words that both have. Words with times belong to the side of the
 * cut on which their middle lies; other text is compared.
 * @param cutSeconds  the middle of the overlap
 */
export function joinOverlap(before: Heard, after: Heard, cutSeconds: number): [Heard, Heard] {
  const [last, first] = [before.transcript.segments.at(-1), after.transcript.segments[0]];
  if (!last || !first) return [before, after];
  if (last.words.length > 0 && first.words.length > 0) {
    const isBefore = (word: Word) => (word.startSeconds + word.endSeconds) / 2 < cutSeconds;
    return [keepWords(before, isBefore), keepWords(after, (word) => !isBefore(word))];
  }
  const joined = joinOverlapping({ before: last.text, after: first.text });
  return [
    withSegments(before, [...before.transcript.segments.slice(0, -1), { ...last, text: joined.before }]),
    withSegments(after, [{ ...first, text: joined.after }, ...after.transcript.segments.slice(1)]),
  ];
}

function keepWords(heard: Heard, isKept: (word: Word) => boolean): Heard {
  const words = heard.transcript.segments.flatMap((segment) => segment.words);
  return words.every(isKept) ? heard : withSegments(heard, segmentWords(words.filter(isKept)));
}

function withSegments(heard: Heard, segments: Segment[]): Heard {
  const filled = segments.filter(({ text }) => text !== '');
  return { ...heard, transcript: { ...heard.transcript, segments: filled } };
}
