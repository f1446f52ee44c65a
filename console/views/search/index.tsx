import { useInfiniteQuery } from '@tanstack/react-query';
import type { SearchHit, SearchResult } from '#sdk/wire.ts';
import { api } from '../../api/client.ts';
import { FilterRange } from '../../app/filter-range.tsx';
import { Filters, FilterText, type FilterValues, useFilters } from '../../app/filters.tsx';
import { clockTime } from '../../text/format.ts';
import { Button } from '../../ui/button.tsx';
import { AsCode } from '../../ui/code/as-code.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty, Query } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';
import { markedParts } from './marked-text.ts';

/** Transcripts by their words; each hit leads to its time. */
export default function SearchView() {
  const [filters] = useFilters();
  const asked = wordsOf(filters);
  return (
    <Page
      title="Search"
      actions={
        asked && <AsCode request={{ method: 'GET', path: '/v1/search', query: { ...asked }, sdk: 'client.search' }} />
      }
    >
      <Filters>
        <FilterText name="q" label="Words" />
        <FilterText name="language" label="Language" placeholder="Language, such as en" />
        <FilterRange after="created_after" before="created_before" />
      </Filters>
      {asked ? <Results key={JSON.stringify(asked)} asked={asked} /> : <Help />}
    </Page>
  );
}

type Asked = { q: string; language?: string; created_after?: string; created_before?: string };

/** The query of the request; null without words. */
function wordsOf({ q, language, created_after, created_before }: FilterValues): Asked | null {
  if (!q) return null;
  return {
    q,
    ...(language && { language }),
    ...(created_after && { created_after }),
    ...(created_before && { created_before }),
  };
}

function Help() {
  return (
    <Empty title="Search all transcripts by what was said.">
      <p>
        Several words match near each other, in all their forms. <code>"a phrase"</code> matches exactly,{' '}
        <code>-word</code> leaves transcripts out, <code>or</code> matches either side.
      </p>
    </Empty>
  );
}

function Results({ asked }: { asked: Asked }) {
  const query = useInfiniteQuery({
    queryKey: ['search', asked],
    queryFn: async ({ pageParam, signal }) =>
      await api.search({ ...asked, ...(pageParam !== null && { cursor: pageParam }) }, { signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });
  return (
    <Query of={query}>
      {({ pages }) => {
        const found = pages.flatMap(({ data }) => data);
        if (found.length === 0) return <Empty title="No transcript contains these words." />;
        return (
          <>
            <p className="hidden" role="status">
              {found.length} transcripts
            </p>
            {found.map((result) => (
              <Result key={result.job_id} result={result} />
            ))}
            {query.hasNextPage && (
              <Button disabled={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
                More
              </Button>
            )}
          </>
        );
      }}
    </Query>
  );
}

function Result({ result: { job_id, title, filename, language, created_at, hits } }: { result: SearchResult }) {
  const name = title || filename || job_id;
  return (
    <section className="card result" aria-label={name}>
      <div className="head">
        <h2>
          <a href={`#/jobs/${job_id}`} dir="auto">
            {name}
          </a>
        </h2>
        <span className="soft">
          {language} <Time at={created_at} />
        </span>
      </div>
      <ol>
        {hits.map((hit) => (
          <Hit key={hit.segment} jobId={job_id} hit={hit} />
        ))}
      </ol>
    </section>
  );
}

function Hit({ jobId, hit: { start, text, speaker, channel, highlights } }: { jobId: string; hit: SearchHit }) {
  const voice = speaker ? `Speaker ${speaker}: ` : channel === undefined ? '' : `Channel ${channel + 1}: `;
  return (
    <li>
      <a href={`#/jobs/${jobId}?t=${start}`} className="hit-time">
        {clockTime(start, 1)}
      </a>
      <p dir="auto">
        {voice && (
          <b>
            <bdi>{voice}</bdi>
          </b>
        )}
        {markedParts(text, highlights).map((part, at) =>
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no other name
          part.isMarked ? <mark key={at}>{part.text}</mark> : part.text,
        )}
      </p>
    </li>
  );
}
