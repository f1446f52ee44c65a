import type { SearchSegment } from './chunks.ts';
import { formsOf, indexForms, type SearchQuery, type SearchTerm, type Stem } from './search-query.ts';
import { type TextWord, wordsIn } from './words.ts';

/** A segment that holds words of a query. */
export type SearchHit = SearchSegment & {
  /** Its index in the transcript. */
  segment: number;
  /** Where the words stand in `text`, the first 100 of them: start and end in UTF-16 units. */
  highlights: [number, number][];
};

/** Of a hit. */
export const MAX_HIGHLIGHTS = 100;

type IndexedWord = TextWord & { segment: number; forms: string[] };
type Marks = { terms: Set<SearchTerm>; ranges: [number, number][] };

/**
 * The segments that hold most terms of a query, in the order of the audio.
 * @param chunks     of one transcript
 * @param language   that the transcript is indexed in
 * @param languages  in whose forms the words of the query may stand
 */
export function findHits(
  chunks: { firstSegment: number; segments: SearchSegment[] }[],
  query: SearchQuery,
  { language, limit, ...options }: { language: string | null; languages: readonly string[]; stem: Stem; limit: number },
): SearchHit[] {
  const segments = new Map<number, SearchSegment>();
  const marks = new Map<number, Marks>();
  const terms = query.flatMap((alternative) => alternative.terms);
  const wanted = terms.map((term) => formsOf(term, options).map((forms) => new Set(forms)));
  for (const chunk of chunks) {
    const words = indexedWords(chunk, language, options.stem);
    for (const [index, segment] of chunk.segments.entries()) segments.set(chunk.firstSegment + index, segment);
    for (const [index, term] of terms.entries()) markTerm(term, wanted[index]!, { words, marks });
  }
  return [...marks]
    .sort(([left, one], [right, other]) => other.terms.size - one.terms.size || left - right)
    .slice(0, limit)
    .sort(([left], [right]) => left - right)
    .map(([segment, { ranges }]) => ({
      ...segments.get(segment)!,
      segment,
      highlights: distinct(ranges).slice(0, MAX_HIGHLIGHTS),
    }));
}

function indexedWords(
  { firstSegment, segments }: { firstSegment: number; segments: SearchSegment[] },
  language: string | null,
  stem: Stem,
): IndexedWord[] {
  return segments.flatMap(({ text }, index) =>
    wordsIn(text).map((word) => ({
      ...word,
      segment: firstSegment + index,
      forms: indexForms(word.word, language, stem),
    })),
  );
}

function markTerm(
  term: SearchTerm,
  wanted: Set<string>[],
  { words, marks }: { words: IndexedWord[]; marks: Map<number, Marks> },
): void {
  for (let at = 0; at + wanted.length <= words.length; at++) {
    if (!wanted.every((forms, index) => words[at + index]!.forms.some((form) => forms.has(form)))) continue;
    for (const { segment, start, end } of words.slice(at, at + wanted.length)) {
      const known = marks.get(segment) ?? { terms: new Set(), ranges: [] };
      known.terms.add(term);
      known.ranges.push([start, end]);
      marks.set(segment, known);
    }
  }
}

/** In order, without repetitions; a chunk holds the first segments of the next one too. */
function distinct(ranges: [number, number][]): [number, number][] {
  const sorted = ranges.toSorted(([left], [right]) => left - right);
  return sorted.filter(([start], index) => start !== sorted[index - 1]?.[0]);
}
