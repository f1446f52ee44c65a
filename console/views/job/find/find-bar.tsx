import type { KeyboardEvent } from 'react';
import { Button } from '../../../ui/button.tsx';
import { MAX_MATCHES } from '../words/find.ts';
import type { Find } from './use-find.ts';

/**
 * The field of the search in a transcript. Enter goes to the next match, Shift-Enter to the one before, Escape leaves.
 */
export function FindBar({ find }: { find: Find }) {
  const { query, setQuery, matches, current, step } = find;
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === 'Enter') step(event.shiftKey ? -1 : 1);
    else if (event.key === 'Escape') event.currentTarget.blur();
    else return;
    event.preventDefault();
  };
  return (
    <search className="filters">
      <label className="filter">
        <span>Find</span>
        <input
          type="search"
          name="find"
          value={query}
          onChange={(event) => setQuery(event.target.value)}
          onKeyDown={onKeyDown}
        />
      </label>
      {query.trim() !== '' && (
        <>
          <span role="status">{matchCount(matches.length, current)}</span>
          <Button aria-label="Previous match" disabled={matches.length === 0} onClick={() => step(-1)}>
            ↑
          </Button>
          <Button aria-label="Next match" disabled={matches.length === 0} onClick={() => step(1)}>
            ↓
          </Button>
        </>
      )}
    </search>
  );
}

function matchCount(count: number, current: number): string {
  if (count === 0) return 'Not found';
  return `${current + 1} of ${count === MAX_MATCHES ? `${count} or more` : count}`;
}
