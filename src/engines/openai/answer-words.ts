import { lettersOf, placeByLetters } from '../../rules/text/letter-places.ts';
import { NO_SPACES, wordSegments } from '../../rules/text/scripts.ts';
import type { Place } from '../../rules/text/word-places.ts';
import { spokenLetters } from '../../rules/transcript/text-amount.ts';
import { estimateTimes, withoutDisorder } from '../../rules/words/estimated-times.ts';
import type { Segment, Word } from '../engine.ts';
import type { GivenPart } from './answer-parts.ts';
import type { TimedSegment } from './answer-segments.ts';

/** A word and its place in the text of the answer; it may have no times. */
export type PlacedWord = GivenPart & { place: Place; weight: number };

/**
 * The words of a text in its order: those of the list that has most of its letters, and words without times for the
 * rest of the text. None where no word has a time.
 */
export function placeGivenWords(text: string, lists: readonly GivenPart[][]): PlacedWord[] {
  const placed = lists.map((list) => placeList(text, list));
  const letters = (words: readonly PlacedWord[]) => words.reduce((sum, { place }) => sum + place.end - place.start, 0);
  const [best = []] = placed.toSorted((one, other) => letters(other) - letters(one));
  const ordered = withoutDisorder(best);
  if (ordered.every(({ startSeconds, endSeconds }) => startSeconds === null && endSeconds === null)) return [];
  let end = 0;
  const all = ordered.flatMap((word) => {
    const missing = missingWords(text, { start: end, end: word.place.start });
    end = word.place.end;
    return [...missing, word];
  });
  return [...all, ...missingWords(text, { start: end, end: text.length })];
}

function placeList(text: string, list: readonly GivenPart[]): PlacedWord[] {
  const places = placeByLetters(
    text,
    list.map((word) => word.text),
  );
  return list.flatMap((word, at) => {
    const place = places[at];
    if (!place) return [];
    // A blank before it shows where a word begins.
    const blank = /^\s/.exec(word.text)?.[0] ?? '';
    const own = blank + text.slice(place.start, place.end);
    return [{ ...word, text: own, place, weight: weightOf(own) }];
  });
}

/** The words of a part of the text that the server gives no words for. */
function missingWords(text: string, { start, end }: Place): PlacedWord[] {
  const unknown = { startSeconds: null, endSeconds: null, confidence: null };
  return [...text.slice(start, end).matchAll(/\S+/g)].flatMap(({ 0: chunk, index }) => {
    const parts = NO_SPACES.test(chunk) ? wordSegments(chunk) : [{ segment: chunk, index: 0 }];
    return parts
      .filter(({ segment }) => lettersOf(segment).key !== '')
      .map(({ segment, index: offset }): PlacedWord => {
        const from = start + index + offset;
        const blank = /\s/.test(text.slice(Math.max(0, from - 1), from)) ? ' ' : '';
        const place = { start: from, end: from + segment.length };
        return { ...unknown, text: blank + segment, place, weight: weightOf(segment) };
      });
  });
}

function weightOf(text: string): number {
  return Math.max(1, spokenLetters(text));
}

/** The segments with their words: each is in the segment whose text it is in, whatever its times. */
export function assignWords(segments: readonly TimedSegment[], words: readonly PlacedWord[]): Segment[] {
  let next = 0;
  return segments.map(({ place, ...segment }, at) => {
    const isLast = at === segments.length - 1;
    const first = next;
    while (next < words.length && (isLast || words[next]!.place.start < place.end)) next += 1;
    return { ...segment, words: timeWords(words.slice(first, next), segment) };
  });
}

function timeWords(words: readonly PlacedWord[], segment: Pick<TimedSegment, 'startSeconds' | 'endSeconds'>): Word[] {
  const times = estimateTimes(words, segment);
  return words.map(({ text, startSeconds, endSeconds, confidence }, at) => {
    const isEstimated = startSeconds === null || endSeconds === null;
    return { text, ...times[at]!, confidence, ...(isEstimated && { estimated: true as const }) };
  });
}
