import {
  judgeCut,
  withoutCapital,
  withoutDoubledMarks,
  withoutLeadingMark,
  withoutStop,
} from '../../rules/text/cut-marks.ts';
import type { Segment } from '../engine.ts';
import type { Heard } from './heard.ts';

/**
 * What is known of a join beside the texts.
 * @property isEndCut      the first text ends where the engine's audio did; default: it does
 * @property isStartCut    the second text begins where the engine's audio did; default: it does
 * @property textLanguage  where it is not the spoken one, or the engine may not name it
 */
export type JoinSides = { isEndCut?: boolean; isStartCut?: boolean; textLanguage?: string | null | undefined };

/**
 * Two neighbours without the marks and capitals that only the cut between them has made (`judgeCut`), in their text and
 * in their words. The pause is that of their times.
 */
export function joinMarks(before: Heard, after: Heard, sides: JoinSides = {}): [Heard, Heard] {
  const [last, first] = [before.transcript.segments.at(-1), after.transcript.segments[0]];
  if (!last || !first) return [before, after];
  const { isEndCut = true, isStartCut = true, textLanguage } = sides;
  const end = isEndCut ? withoutDoubled(last) : last;
  const start = isStartCut ? atStart(withoutDoubled(first), (text) => withoutLeadingMark(text, end.text)) : first;
  const { isStopMade, isCapitalMade } = judgeCut({
    before: end.text,
    after: start.text,
    pauseSeconds: Math.max(0, startOf(first) - endOf(last)),
    language: textLanguage ?? after.transcript.language ?? before.transcript.language,
    isEndCut,
    isStartCut,
  });
  return [
    withSegments(before, [...before.transcript.segments.slice(0, -1), isStopMade ? atEnd(end, withoutStop) : end]),
    withSegments(after, [
      isCapitalMade ? atStart(start, withoutCapital) : start,
      ...after.transcript.segments.slice(1),
    ]),
  ];
}

function withoutDoubled(segment: Segment): Segment {
  const words = segment.words.map((word) => ({ ...word, text: withoutDoubledMarks(word.text) }));
  return { ...segment, text: withoutDoubledMarks(segment.text.trim()), words };
}

function atStart(segment: Segment, change: (text: string) => string): Segment {
  const [first, ...others] = segment.words;
  const words = first ? [{ ...first, text: change(first.text) }, ...others].filter(({ text }) => text !== '') : [];
  return { ...segment, text: change(segment.text), words };
}

function atEnd(segment: Segment, change: (text: string) => string): Segment {
  const last = segment.words.at(-1);
  const words = last ? [...segment.words.slice(0, -1), { ...last, text: change(last.text) }] : [];
  return { ...segment, text: change(segment.text), words };
}

function startOf({ startSeconds, words }: Segment): number {
  return words[0]?.startSeconds ?? startSeconds;
}

function endOf({ endSeconds, words }: Segment): number {
  return words.at(-1)?.endSeconds ?? endSeconds;
}

function withSegments(heard: Heard, segments: Segment[]): Heard {
  return { ...heard, transcript: { ...heard.transcript, segments } };
}
