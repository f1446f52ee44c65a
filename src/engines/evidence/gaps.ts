import { clipTo, totalSeconds } from '../../rules/transcript/intervals.ts';
import { spokenLetters } from '../../rules/transcript/text-amount.ts';
import { findGaps, type Gap, type Said } from '../../rules/words/gaps.ts';
import type { Segment } from '../engine.ts';
import { keepWords } from '../segments.ts';
import { type Heard, joinHeard, textOf } from './heard.ts';
import { joinOverlap } from './join-overlaps.ts';
import { lengthOf, type Part } from './parts.ts';

/** Detected speech of a part in which no word stands, and of which that is not known yet. */
export function gapsOf(heard: Heard, part: Part): Gap[] {
  if (!part.isCertain) return [];
  const known = [...heard.untranscribed, ...heard.repetitions];
  const isKnown = (gap: Gap) => totalSeconds(clipTo(gap, known)) > (gap.endSeconds - gap.startSeconds) / 2;
  const said = heard.transcript.segments.flatMap(saidIn);
  return findGaps(said, part.speech, lengthOf(part)).filter((gap) => !isKnown(gap));
}

/**
 * The text with what was transcribed of a gap. Words with wrong times that were in the gap are replaced, unless there
 * is less text now.
 * @param again  with a margin on both sides; times are those of the whole
 */
export function fillGap(heard: Heard, gap: Gap, again: Heard, textLanguage?: string | null): Heard {
  const inGap = between(heard, gap.from, gap.to);
  const isLess = spokenLetters(textOf(again.transcript)) < spokenLetters(textOf(inGap.transcript));
  if (isLess) return heard;
  const [before, after] = [between(heard, 0, gap.from), between(heard, gap.to, Number.POSITIVE_INFINITY)];
  const [left, first] = joinOverlap(before, again, gap.startSeconds, { isEndCut: false, textLanguage });
  const [middle, right] = joinOverlap(first, after, gap.endSeconds, { isStartCut: false, textLanguage });
  const { language, ...marks } = heard.transcript;
  const { transcript } = joinHeard([left, middle, right], language);
  const byStart = (key: 'untranscribed' | 'repetitions') =>
    [...heard[key], ...again[key]].toSorted((one, other) => one.startSeconds - other.startSeconds);
  return {
    transcript: { ...marks, ...transcript, language: language ?? transcript.language },
    untranscribed: byStart('untranscribed'),
    repetitions: byStart('repetitions'),
  };
}

function saidIn(segment: Segment): Said[] {
  return segment.words.length > 0 ? segment.words : [{ ...segment, isSegment: true }];
}

/** The words, or segments without words, from one number on and before another. */
function between(heard: Heard, from: number, to: number): Heard {
  let first = 0;
  const segments = heard.transcript.segments.map((segment) => {
    const start = first;
    first += Math.max(1, segment.words.length);
    if (segment.words.length === 0) return start >= from && start < to ? segment : null;
    return keepWords(segment, (_, at) => start + at >= from && start + at < to);
  });
  return {
    transcript: { ...heard.transcript, segments: segments.filter((segment) => segment !== null) },
    untranscribed: [],
    repetitions: [],
  };
}
