import { type RefObject, useEffect, useMemo, useState } from 'react';
import type { Rows } from '../rows/virtual-rows.tsx';
import { findAll, firstMatchFrom, type Match, stepMatch } from '../words/find.ts';
import type { Marks } from '../words/marks.ts';

/** A search in the transcript. */
export type Find = {
  query: string;
  setQuery(query: string): void;
  matches: readonly Match[];
  /** The chosen match; -1: none. */
  current: number;
  step(by: 1 | -1): void;
};

/** Finds in the shown texts. @param from  the segment at which a new search begins */
export function useFind({
  segments,
  marks,
  rows,
  from,
}: {
  segments: readonly { text: string }[];
  marks: Marks;
  rows: RefObject<Rows | null>;
  from: () => number;
}): Find {
  const [query, setQuery] = useState('');
  const [current, setCurrent] = useState(-1);
  const texts = useMemo(() => segments.map(({ text }) => text), [segments]);
  const matches = useMemo(() => findAll(texts, query), [texts, query]);
  const chosen = Math.min(current, matches.length - 1);
  useEffect(() => marks.setMatches(matches, chosen), [marks, matches, chosen]);
  const choose = (found: readonly Match[], at: number) => {
    setCurrent(at);
    if (at >= 0) rows.current?.show(found[at]!.segment);
  };
  return {
    query,
    matches,
    current: chosen,
    setQuery(text) {
      setQuery(text);
      const found = findAll(texts, text);
      choose(found, firstMatchFrom(found, from()));
    },
    step: (by) => choose(matches, stepMatch(matches, chosen, by)),
  };
}
