import type { Interval } from '../../rules/transcript/intervals.ts';
import { findRepetitions, type Repetition } from '../../rules/transcript/repetitions.ts';
import { spokenLetters } from '../../rules/transcript/text-amount.ts';
import type { Segment, Transcript, Word } from '../engine.ts';

/** A transcript in which repeated text stands once, and the times of the repetitions. */
export type KeptOnce = { transcript: Transcript; repetitions: Interval[] };

type PlacedSegment = { segment: Segment; start: number };

/**
 * Keeps the first of the repetitions that no speaker makes, with its words. Other text stays as it is.
 * @param isLoop  as for `findRepetitions`
 */
export function keepOnce(transcript: Transcript, isLoop: boolean): KeptOnce {
  let length = 0;
  const placed = transcript.segments.map((segment): PlacedSegment => {
    const start = length;
    length += segment.text.length + 1;
    return { segment, start };
  });
  const found = findRepetitions(transcript.segments.map(({ text }) => text).join('\n'), isLoop);
  if (found.length === 0) return { transcript, repetitions: [] };
  const segments = placed.map((one) => withoutRepeats(one, found)).filter((one) => one !== null);
  return { transcript: { ...transcript, segments }, repetitions: found.map((one) => timesOf(one, placed)) };
}

/** Null when nothing of the segment is left. */
function withoutRepeats({ segment, start }: PlacedSegment, found: Repetition[]): Segment | null {
  const isDropped = (at: number) => found.some(({ keptEnd, end }) => at >= keptEnd && at < end);
  const text = segment.text
    .split('')
    .filter((_, at) => !isDropped(start + at))
    .join('');
  if (text === segment.text) return segment;
  if (spokenLetters(text) === 0) return null;
  const words = placeWords({ segment, start })
    .filter(({ at }) => !isDropped(at))
    .map(({ word }) => word);
  return { ...segment, text: text.trim(), words, endSeconds: words.at(-1)?.endSeconds ?? segment.endSeconds };
}

function timesOf({ start, end }: Repetition, placed: PlacedSegment[]): Interval {
  const parts = placed
    .filter((one) => one.start < end && one.start + one.segment.text.length > start)
    .flatMap((one): { at: number; part: Word | Segment }[] => {
      const words = placeWords(one);
      return words.length === 0
        ? [{ at: start, part: one.segment }]
        : words.map(({ at, word }) => ({ at, part: word }));
    })
    .filter(({ at }) => at >= start && at < end)
    .map(({ part }) => part);
  const startSeconds = Math.min(...parts.map((part) => part.startSeconds));
  const endSeconds = Math.max(...parts.map((part) => part.endSeconds));
  return parts.length === 0 ? { startSeconds: 0, endSeconds: 0 } : { startSeconds, endSeconds };
}

/** The words of a segment, each with the position of its text in all of the text. */
function placeWords({ segment, start }: PlacedSegment): { at: number; word: Word }[] {
  let from = 0;
  return segment.words.map((word) => {
    const found = segment.text.indexOf(word.text, from);
    const at = found === -1 ? from : found;
    from = found === -1 ? from : found + word.text.length;
    return { at: start + at, word };
  });
}
