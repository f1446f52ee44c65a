import type { Match } from './find.ts';
import type { WordIndex } from './word-index.ts';

type Name = 'spoken' | 'doubtful' | 'match' | 'match-now';

/** A part of a segment's text. */
type Part = { from: number; to: number };

const NONE: Part[] = [];

/**
 * The marks in the text of the rows that are in the page: the spoken word, doubtful words, matches. They are highlights
 * of the browser (CSS Custom Highlight API) over one text node for each row, so that no element is made for a word.
 * Where the browser has no highlights nothing is marked.
 */
export class Marks {
  readonly #highlights: Partial<Record<Name, Highlight>> = {};
  readonly #rows = new Map<number, { text: Text; ranges: Map<Name, AbstractRange[]> }>();
  #index: WordIndex;
  #spoken = -1;
  #threshold = 0;
  #matches = new Map<number, Match[]>();
  #currentMatch: Match | null = null;

  constructor(index: WordIndex) {
    this.#index = index;
    if (!('highlights' in CSS)) return;
    // Where marks overlap, the later ones win.
    for (const [priority, name] of (['doubtful', 'match', 'match-now', 'spoken'] as const).entries()) {
      const highlight = new Highlight();
      highlight.priority = priority;
      CSS.highlights.set(name, highlight);
      this.#highlights[name] = highlight;
    }
  }

  /** Takes the marks out of the page. */
  close(): void {
    this.#rows.clear();
    for (const name of Object.keys(this.#highlights)) CSS.highlights.delete(name);
  }

  /** A row came into the page. @returns a function for the time when it leaves the page, or its text changes */
  add(segment: number, text: Text): () => void {
    const row = { text, ranges: new Map() };
    this.#rows.set(segment, row);
    this.#mark(segment);
    return () => {
      this.#clear(segment);
      if (this.#rows.get(segment) === row) this.#rows.delete(segment);
    };
  }

  /** Takes the words of a changed transcript. */
  setIndex(index: WordIndex): void {
    this.#index = index;
    this.#spoken = -1;
    for (const segment of this.#rows.keys()) this.#mark(segment);
  }

  /** Marks the word that is spoken: one range, and none for a segment without words. @param entry  -1: none */
  setSpoken(entry: number): void {
    if (entry === this.#spoken) return;
    const before = this.#segmentOf(this.#spoken);
    const now = this.#segmentOf(entry);
    this.#spoken = entry;
    if (before !== now) this.#markAs('spoken', before);
    this.#markAs('spoken', now);
  }

  /** Marks the words of a lower confidence than this, 0 to 1. */
  setThreshold(threshold: number): void {
    this.#threshold = threshold;
    for (const segment of this.#rows.keys()) this.#markAs('doubtful', segment);
  }

  setMatches(matches: readonly Match[], current: number): void {
    this.#matches = Map.groupBy(matches, ({ segment }) => segment);
    this.#currentMatch = matches[current] ?? null;
    for (const segment of this.#rows.keys()) {
      this.#markAs('match', segment);
      this.#markAs('match-now', segment);
    }
  }

  #segmentOf(entry: number): number {
    return entry < 0 ? -1 : this.#index.segments[entry]!;
  }

  #mark(segment: number): void {
    for (const name of Object.keys(this.#highlights) as Name[]) this.#markAs(name, segment);
  }

  #clear(segment: number): void {
    const row = this.#rows.get(segment);
    for (const [name, ranges] of row?.ranges ?? []) for (const range of ranges) this.#highlights[name]!.delete(range);
    row?.ranges.clear();
  }

  #markAs(name: Name, segment: number): void {
    const row = this.#rows.get(segment);
    const highlight = this.#highlights[name];
    if (!row || !highlight) return;
    for (const range of row.ranges.get(name) ?? []) highlight.delete(range);
    const length = row.text.length;
    const ranges = this.#partsOf(name, segment)
      // A text that was edited since is shorter than the index says, until it is stored.
      .filter(({ from, to }) => from < to && to <= length)
      .map(
        ({ from, to }) =>
          new StaticRange({ startContainer: row.text, startOffset: from, endContainer: row.text, endOffset: to }),
      );
    row.ranges.set(name, ranges);
    for (const range of ranges) highlight.add(range);
  }

  #partsOf(name: Name, segment: number): Part[] {
    if (name === 'match') return this.#matches.get(segment) ?? NONE;
    if (name === 'match-now') return this.#currentMatch?.segment === segment ? [this.#currentMatch] : NONE;
    if (name === 'doubtful') return this.#doubtful(segment);
    return this.#segmentOf(this.#spoken) === segment ? [this.#partOf(this.#spoken)] : NONE;
  }

  #doubtful(segment: number): Part[] {
    const { confidences, firstOf } = this.#index;
    const parts: Part[] = [];
    if (this.#threshold === 0) return parts;
    for (let entry = firstOf[segment]!; entry < firstOf[segment + 1]!; entry++) {
      if (confidences[entry]! < this.#threshold) parts.push(this.#partOf(entry));
    }
    return parts;
  }

  #partOf(entry: number): Part {
    return { from: this.#index.from[entry]!, to: this.#index.to[entry]! };
  }
}
