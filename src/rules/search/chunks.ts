import { indexForms, quoteLexeme, type Stem } from './search-query.ts';
import { wordsIn } from './words.ts';

/** A segment as it is searched and shown; the rest of a stored segment is left out. */
export type SearchSegment = {
  /** Seconds from the start of the audio. */
  start: number;
  end: number;
  text: string;
  speaker?: string | null;
  channel?: number;
};

/** A part of a transcript, as one row of the index. */
export type TranscriptChunk = {
  /** From 0. */
  number: number;
  /** The index of its first segment in the transcript. */
  firstSegment: number;
  segments: SearchSegment[];
  /** In PostgreSQL's form `tsvector`. */
  words: string;
};

/**
 * @property tags      words that every chunk has in addition
 * @property language  of the transcript: its words are indexed with their stems too
 */
export type IndexOptions = { tags: string[]; language: string | null; stem: Stem };

// Positions in a tsvector end at 16,383: a phrase after the first 1.8 hours of a whole transcript would not be found.
const CHUNK_SECONDS = 300;
const CHUNK_WORDS = 2_000;
const LAST_POSITION = 16_383;
// A chunk overlaps the next one by this number of words, so that phrases over its end are found.
const OVERLAP_WORDS = 10;

/** A transcript as chunks of about five minutes, each of whole segments. */
export function chunkTranscript(segments: SearchSegment[], { tags, language, stem }: IndexOptions): TranscriptChunk[] {
  const words = segments.map(({ text }) => wordsIn(text).map(({ word }) => word));
  const starts = chunkStarts(segments, words);
  return starts.map((start, number) => {
    const end = overlapEnd(starts[number + 1] ?? segments.length, words);
    return {
      number,
      firstSegment: start,
      segments: segments.slice(start, end),
      words: indexWords(words.slice(start, end).flat(), { tags, language, stem }),
    };
  });
}

function chunkStarts(segments: SearchSegment[], words: string[][]): number[] {
  const starts: number[] = [];
  let count = 0;
  for (const [index, segment] of segments.entries()) {
    const start = starts.at(-1);
    const isFull = start === undefined || count >= CHUNK_WORDS || segment.end - segments[start]!.start > CHUNK_SECONDS;
    if (isFull) {
      starts.push(index);
      count = 0;
    }
    count += words[index]!.length;
  }
  return starts;
}

function overlapEnd(end: number, words: string[][]): number {
  let last = end;
  for (let count = 0; last < words.length && count < OVERLAP_WORDS; last++) count += words[last]!.length;
  return last;
}

/** The words of some texts with their positions, and their other forms at the same positions. */
export function wordsOfChunk(segments: readonly Pick<SearchSegment, 'text'>[], options: IndexOptions): string {
  return indexWords(
    segments.flatMap(({ text }) => wordsIn(text).map(({ word }) => word)),
    options,
  );
}

function indexWords(words: string[], { tags, language, stem }: IndexOptions): string {
  const positions = new Map<string, number[]>();
  for (const [index, word] of words.entries()) {
    const position = Math.min(index + 1, LAST_POSITION);
    for (const lexeme of indexForms(word, language, stem)) {
      const known = positions.get(lexeme);
      if (known) known.push(position);
      else positions.set(lexeme, [position]);
    }
  }
  const lexemes = [...positions].map(([lexeme, places]) => `${quoteLexeme(lexeme)}:${places.join(',')}`);
  return [...tags.map(quoteLexeme), ...lexemes].join(' ');
}
