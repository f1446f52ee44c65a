import type { SearchSegment } from './chunks.ts';
import type { SearchQuery, SearchTerm, Stem } from './search-query.ts';
import { stemWord } from './search-query.ts';
import type { TextWord } from './words.ts';
import { wordsIn } from './words.ts';

/** A segment that holds words of a query. */
export type SearchHit = SearchSegment & {
  /** Its index in the transcript. */
  segment: number;
  /** Where the words stand in `text`: start and end in UTF-16 units. */
  highlights: [number, number][];
};

type IndexedWord = TextWord & { segment: number; forms: Set<string> };
type Marks = { terms: Set<SearchTerm>; ranges: [number, number][] };

/**
 * The segments that hold most terms of a query, in the order of the audio.
 * @param chunks     of one transcript
 * @param languages  in whose forms a word may stand: those of the query that the transcript is indexed with
 */
export function findHits(
  chunks: { firstSegment: number; segments: SearchSegment[] }[],
  query: SearchQuery,
  { languages, stem, limit }: { languages: string[]; stem: Stem; limit: number },
): SearchHit[] {
  const segments = new Map<number, SearchSegment>();
  const marks = new Map<number, Marks>();
  const terms = query.flatMap((alternative) => alternative.terms);
  for (const chunk of chunks) {
    const words = indexedWords(chunk, { languages, stem });
    for (const [index, segment] of chunk.segments.entries()) segments.set(chunk.firstSegment + index, segment);
    for (const term of terms) markTerm(term, words, { languages, stem, marks });
  }
  return [...marks]
    .sort(([left, one], [right, other]) => other.terms.size - one.terms.size || left - right)
    .slice(0, limit)
    .sort(([left], [right]) => left - right)
    .map(([segment, { ranges }]) => ({ ...segments.get(segment)!, segment, highlights: distinct(ranges) }));
}

function indexedWords(
  { firstSegment, segments }: { firstSegment: number; segments: SearchSegment[] },
  { languages, stem }: { languages: string[]; stem: Stem },
): IndexedWord[] {
  return segments.flatMap(({ text }, index) =>
    wordsIn(text).map((word) => ({
      ...word,
      segment: firstSegment + index,
      forms: new Set(languages.flatMap((language) => stemWord(language, word.word, stem))),
    })),
  );
}

function markTerm(
  term: SearchTerm,
  words: IndexedWord[],
  { languages, stem, marks }: { languages: string[]; stem: Stem; marks: Map<number, Marks> },
): void {
  const { words: wanted, isExact } = term;
  const forms = wanted.map((word) => languages.flatMap((language) => stemWord(language, word, stem)));
  const holds = (at: number, index: number) => {
    const found = words[at + index];
    if (!found) return false;
    return found.word === wanted[index] || (!isExact && forms[index]!.some((form) => found.forms.has(form)));
  };
  for (let at = 0; at < words.length; at++) {
    if (!wanted.every((_, index) => holds(at, index))) continue;
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
