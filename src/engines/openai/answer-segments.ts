import { lettersOf, placeByLetters } from '../../rules/text/letter-places.ts';
import { NO_SPACES } from '../../rules/text/scripts.ts';
import { joinWords, type Place, partsOfText } from '../../rules/text/word-places.ts';
import { MOST_LETTERS_PER_SECOND, spokenLetters } from '../../rules/transcript/text-amount.ts';
import { estimateTimes, withoutDisorder } from '../../rules/words/estimated-times.ts';
import type { GivenPart } from './answer-parts.ts';

/** A segment and its place in the text of the answer. */
export type PlacedSegment = GivenPart & { place: Place };

/** With its times, estimated where the server gives none. */
export type TimedSegment = PlacedSegment & { startSeconds: number; endSeconds: number };

/**
 * The segments of an answer in the order of its text; all of its letters are in one of them. Text that no segment has
 * is a segment of its own, with the times of segments that have another text there. A word that the end of a segment
 * divides is in this segment.
 * @param words  of all of the text, or none
 */
export function placeSegments(
  text: string,
  given: readonly GivenPart[],
  words: readonly PlacedSegment[],
): PlacedSegment[] {
  const ordered = inOrder(text, given);
  const places = placeByLetters(text, textsOf(ordered));
  const placed: PlacedSegment[] = [];
  let [end, others] = [0, [] as GivenPart[]];
  let isText = withoutBlanks(textsOf(given).join('')) === withoutBlanks(text);
  const fillUp = (to: number) => {
    if (!hasLetters(text.slice(end, to))) return;
    placed.push({ text: '', place: { start: end, end: to }, ...timesOf(others), confidence: null });
    [end, isText] = [to, false];
  };
  for (const [at, segment] of ordered.entries()) {
    const place = places[at]!;
    if (!hasLetters(segment.text)) continue;
    if (place === null) {
      [others, isText] = [[...others, segment], false];
      continue;
    }
    const start = endOfWord(text, place.start, words);
    fillUp(start);
    const own = { start: Math.max(end, start), end: endOfWord(text, place.end, words) };
    if (start !== place.start || own.end !== place.end) isText = false;
    if (hasLetters(text.slice(own.start, own.end))) placed.push({ ...segment, place: own });
    [end, others] = [Math.max(end, own.end), []];
  }
  fillUp(text.length);
  if (isText) return withOwnTexts(text, ordered);
  const parts = partsOfText(
    text,
    placed.map(({ place }) => place),
  );
  let start = 0;
  return placed.map((segment, at) => {
    const place = { start, end: start + parts[at]!.length };
    start = place.end;
    return { ...segment, text: parts[at]!.trim(), place };
  });
}

/** As the server gives them, unless more of their text is in order by their starts. */
function inOrder(text: string, given: readonly GivenPart[]): readonly GivenPart[] {
  if (lettersOf(textsOf(given).join('')).key === lettersOf(text).key) return given;
  const sorted = given.toSorted((one, other) => (one.startSeconds ?? 0) - (other.startSeconds ?? 0));
  const placedLetters = (segments: readonly GivenPart[]) =>
    placeByLetters(text, textsOf(segments)).reduce((sum, place) => sum + (place ? place.end - place.start : 0), 0);
  return placedLetters(sorted) > placedLetters(given) ? sorted : given;
}

function textsOf(segments: readonly GivenPart[]): string[] {
  return segments.map((segment) => segment.text);
}

function hasLetters(text: string): boolean {
  return /[\p{L}\p{M}\p{N}]/u.test(text);
}

/** Segments of signs alone, such as notes, stay too. */
function withOwnTexts(text: string, segments: readonly GivenPart[]): PlacedSegment[] {
  let end = 0;
  return segments.flatMap((segment) => {
    const start = end;
    for (let left = withoutBlanks(segment.text).length; left > 0; end += 1) if (/\S/.test(text[end]!)) left -= 1;
    const own = segment.text.trim();
    return own === '' ? [] : [{ ...segment, text: own, place: { start, end } }];
  });
}

function withoutBlanks(text: string): string {
  return text.replace(/\s/g, '');
}

function endOfWord(text: string, end: number, words: readonly PlacedSegment[]): number {
  const divided = words.find(({ place }) => place.start < end && place.end > end);
  if (divided) return divided.place.end;
  if (!hasLetters(text.slice(end - 1, end)) || NO_SPACES.test(text.slice(Math.max(0, end - 2), end + 2))) return end;
  return end + /^[\p{L}\p{M}\p{N}]*/u.exec(text.slice(end))![0].length;
}

function timesOf(segments: readonly GivenPart[]): Pick<GivenPart, 'startSeconds' | 'endSeconds'> {
  const starts = segments.map(({ startSeconds }) => startSeconds).filter((seconds) => seconds !== null);
  const ends = segments.map(({ endSeconds }) => endSeconds).filter((seconds) => seconds !== null);
  return {
    startSeconds: starts.length > 0 ? Math.min(...starts) : null,
    endSeconds: ends.length > 0 ? Math.max(...ends) : null,
  };
}

/**
 * The segments with their times: those of the server, else of their words, else between their neighbours. One for which
 * the neighbours leave too little time is joined to the one before it.
 * @param words  with the times of the server
 */
export function timeSegments(
  placed: readonly PlacedSegment[],
  words: readonly PlacedSegment[],
  pieceSeconds: number,
): TimedSegment[] {
  const known = placed.map((segment) => {
    const { start, end } = segment.place;
    const own = timesOf(words.filter(({ place }) => place.start >= start && place.start < end));
    const startSeconds = segment.startSeconds ?? own.startSeconds;
    const given = segment.endSeconds ?? own.endSeconds;
    const endSeconds = given !== null && startSeconds !== null && given <= startSeconds ? null : given;
    return { ...segment, startSeconds, endSeconds, weight: spokenLetters(segment.text) };
  });
  const ordered = withoutDisorder(known);
  const times = estimateTimes(ordered, { startSeconds: 0, endSeconds: pieceSeconds });
  const timed: TimedSegment[] = [];
  let isLastShort = false;
  for (const [at, { weight, ...part }] of ordered.entries()) {
    const segment = { ...part, ...times[at]! };
    const isEstimated = part.startSeconds === null || part.endSeconds === null;
    const isShort = isEstimated && weight > MOST_LETTERS_PER_SECOND * (segment.endSeconds - segment.startSeconds);
    const last = timed.at(-1);
    if (last && (isShort || isLastShort)) timed[timed.length - 1] = joined(last, segment);
    else timed.push(segment);
    // Only the first segment has none before it.
    isLastShort = isShort && !last;
  }
  return timed;
}

function joined(one: TimedSegment, other: TimedSegment): TimedSegment {
  return {
    text: joinWords([one, other]),
    place: { start: one.place.start, end: other.place.end },
    startSeconds: one.startSeconds,
    endSeconds: Math.max(one.endSeconds, other.endSeconds),
    confidence: one.confidence ?? other.confidence,
  };
}
