import { clipTo, hullOf, type Interval, shiftBy, totalSeconds } from '../../rules/transcript/intervals.ts';
import { spokenLetters } from '../../rules/transcript/text-amount.ts';
import { findGaps, GAP_SPEECH_SECONDS, type Gap, type Said } from '../../rules/words/gaps.ts';
import type { Segment } from '../engine.ts';
import { keepWords } from '../segments.ts';
import { type Heard, joinHeard, textOf } from './heard.ts';
import { joinOverlap } from './join-overlaps.ts';
import { lengthOf, type Part } from './parts.ts';

/** Of the gap that another one is left in. */
const CLEARLY_SHORTER = 0.75;
/** Detected speech that goes on so long after the time of a word is a part of the word. */
const WORD_REST_SECONDS = 0.3;

/** Detected speech of a part in which no word stands, and of which that is not known yet. */
export function gapsOf(heard: Heard, part: Part, minSpeechSeconds = GAP_SPEECH_SECONDS.again): Gap[] {
  if (!part.isCertain) return [];
  const known = [...heard.untranscribed, ...heard.repetitions];
  const isKnown = (gap: Gap) => totalSeconds(clipTo(gap, known)) > totalSeconds(clipTo(gap, part.speech)) / 2;
  const said = heard.transcript.segments.flatMap(saidIn);
  const gaps = findGaps(said, part.speech, { lengthSeconds: lengthOf(part), minSpeechSeconds });
  return gaps.filter((gap) => !isKnown(gap));
}

/** Whether a gap is most of one that was transcribed: the engine would be given the same audio again. */
export function isMostOf(gap: Gap, other: Gap): boolean {
  return totalSeconds(clipTo(gap, [other])) > 0 && totalSeconds([gap]) > CLEARLY_SHORTER * totalSeconds([other]);
}

/** From the first to the last speech in a gap, without the end of the word before it. */
export function speechOf(gap: Gap, { speech }: Part): Interval {
  const inGap = clipTo(gap, speech);
  const spoken = inGap.filter((one) => totalSeconds([one]) > WORD_REST_SECONDS);
  return shiftBy(gap.startSeconds, [hullOf(spoken) ?? hullOf(inGap)!])[0]!;
}

/** With the gaps that are left, but for those whose words have wrong times. */
export function reportGaps(heard: Heard, part: Part): Heard {
  const gaps = gapsOf(heard, part, GAP_SPEECH_SECONDS.reported).filter(({ from, to }) => from === to);
  return { ...heard, untranscribed: sorted([...heard.untranscribed, ...gaps.map((gap) => speechOf(gap, part))]) };
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
  return {
    transcript: { ...marks, ...transcript, language: language ?? transcript.language },
    untranscribed: sorted([...heard.untranscribed, ...again.untranscribed]),
    repetitions: sorted([...heard.repetitions, ...again.repetitions]),
  };
}

function sorted(intervals: Interval[]): Interval[] {
  return intervals.toSorted((one, other) => one.startSeconds - other.startSeconds);
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
