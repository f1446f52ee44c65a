import { placeWords } from './place-words.ts';

/** A part of the transcript as the API gives it: times in seconds from the start of the audio. */
export type Timed = { start: number; end: number; text: string; confidence: number | null };
export type TimedSegment = Timed & { words?: readonly Timed[] };

/**
 * All words of a transcript in columns, in the order of the text: 40,000 words take 1.4 MB. The words of a segment
 * whose engine gives no times of words are estimated: each has a share of the segment's time by its letters.
 */
export type WordIndex = {
  starts: Float64Array;
  ends: Float64Array;
  /** NaN where the engine gives none. */
  confidences: Float32Array;
  /** The segment of each entry. */
  segments: Uint32Array;
  /** Where the entry begins and ends in the text of its segment, in UTF-16 units. */
  from: Uint32Array;
  to: Uint32Array;
  /** The first entry of each segment, and the number of entries as the last element. */
  firstOf: Uint32Array;
  /** The entries by start; channels may speak at the same time. */
  byStart: Uint32Array;
};

/** A word stays marked for this time after its end, unless the next one starts. */
const LINGER_SECONDS = 1;

/** The index of these segments. */
export function indexWords(segments: readonly TimedSegment[]): WordIndex {
  const parts = segments.map(partsOf);
  const count = parts.reduce((sum, { length }) => sum + length, 0);
  const index = allocate(count, segments.length);
  let entries = 0;
  for (const [at, ofSegment] of parts.entries()) {
    index.firstOf[at] = entries;
    for (const { part, from, to } of ofSegment) {
      index.starts[entries] = part.start;
      index.ends[entries] = part.end;
      index.confidences[entries] = part.confidence ?? Number.NaN;
      index.segments[entries] = at;
      index.from[entries] = from;
      index.to[entries] = to;
      entries++;
    }
  }
  index.firstOf[segments.length] = entries;
  return { ...index, byStart: orderOf(index.starts.subarray(0, entries)) };
}

/**
 * The entry that is spoken at a time: the last one that has started. -1 before the first one, and in pauses.
 * @param seconds  from the start of the audio
 */
export function wordAtTime(index: WordIndex, seconds: number): number {
  const entry = lastStarted(index, seconds);
  return entry < 0 || seconds > index.ends[entry]! + LINGER_SECONDS ? -1 : entry;
}

/** The segment that is spoken at a time, in pauses the one before; 0 before the first one. */
export function segmentAtTime(index: WordIndex, seconds: number): number {
  const entry = lastStarted(index, seconds);
  return entry < 0 ? 0 : index.segments[entry]!;
}

/** The entry at a place in the text of a segment; between two words the one before. */
export function wordAtOffset(index: WordIndex, segment: number, offset: number): number {
  const first = index.firstOf[segment]!;
  const end = index.firstOf[segment + 1]!;
  return first + Math.max(0, countUpTo(end - first, (at) => index.from[first + at]! <= offset) - 1);
}

function allocate(entries: number, segments: number): Omit<WordIndex, 'byStart'> {
  return {
    starts: new Float64Array(entries),
    ends: new Float64Array(entries),
    confidences: new Float32Array(entries),
    segments: new Uint32Array(entries),
    from: new Uint32Array(entries),
    to: new Uint32Array(entries),
    firstOf: new Uint32Array(segments + 1),
  };
}

type Part = { part: Pick<Timed, 'start' | 'end' | 'confidence'>; from: number; to: number };

/** The words that stand in the text; estimated ones where none does; at least one entry. */
function partsOf(segment: TimedSegment): Part[] {
  const placed = placeWords(segment.text, segment.words ?? []);
  if (placed.length === 0) return estimatedParts(segment);
  return placed.map(({ word, from, to }) => ({ part: segment.words![word]!, from, to }));
}

function estimatedParts(segment: TimedSegment): Part[] {
  const { start, end, text, confidence } = segment;
  const words = [...text.matchAll(/\S+/g)].map(({ 0: word, index }) => ({ from: index, to: index + word.length }));
  if (words.length === 0) return [{ part: segment, from: 0, to: text.length }];
  const timeAt = (offset: number) => start + ((end - start) * offset) / text.length;
  return words.map(({ from, to }) => ({ part: { start: timeAt(from), end: timeAt(to), confidence }, from, to }));
}

function orderOf(starts: Float64Array): Uint32Array {
  const order = Uint32Array.from(starts, (_, at) => at);
  const isSorted = starts.every((start, at) => at === 0 || starts[at - 1]! <= start);
  return isSorted ? order : order.sort((left, right) => starts[left]! - starts[right]! || left - right);
}

function lastStarted({ starts, byStart }: WordIndex, seconds: number): number {
  const count = countUpTo(byStart.length, (at) => starts[byStart[at]!]! <= seconds);
  return count === 0 ? -1 : byStart[count - 1]!;
}

/** How many of the first `length` positions hold, where all that hold come before all that do not: a binary search. */
function countUpTo(length: number, holds: (at: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
