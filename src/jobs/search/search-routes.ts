import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Account } from '../../accounts/account.ts';
import type { Database } from '../../db/database.ts';
import type { Runtime } from '../../db/runtime.ts';
import { countFitting } from '../../db/statements/page-bytes.ts';
import { ApiError } from '../../http/api-error.ts';
import { decodeCursor, pageFields, pageOf } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { component, idSchema, nullable, pageSchema, type Static, Type, timeSchema } from '../../http/schema.ts';
import { readTimeRange, timeParameter } from '../../http/time-parameter.ts';
import { openFairSemaphore } from '../../platform/fair-semaphore.ts';
import { findHits, MAX_HIGHLIGHTS } from '../../rules/search/hits.ts';
import { parseSearchQuery, type SearchQuery, tsqueryOf } from '../../rules/search/search-query.ts';
import { baseLanguage, languageTag, ownerTag } from '../../rules/search/tags.ts';
import { type FoundChunk, type FoundJob, findMatchingJobs, readMatchingChunks } from './chunk-store.ts';
import { STEMMED_LANGUAGES, stemOf } from './stemmers.ts';

const MAX_QUERY_CHARS = 200;
const HITS_PER_JOB = 3;
// A search for a common word reads all chunks that hold it: the other requests keep most of the database's cores.
const SEARCHES_AT_ONCE = { permits: 4, perOwner: 2 };

const hitSchema = Type.Object(
  {
    segment: Type.Integer({ minimum: 0, description: 'Its index in the segments of the transcript.' }),
    start: Type.Number({ minimum: 0, description: 'Seconds from the start of the audio.' }),
    end: Type.Number({ minimum: 0 }),
    text: Type.String(),
    speaker: Type.Optional(nullable(Type.String(), 'As in the transcript.')),
    channel: Type.Optional(Type.Integer({ minimum: 0 })),
    highlights: Type.Array(Type.Array(Type.Integer({ minimum: 0 }), { minItems: 2, maxItems: 2 }), {
      maxItems: MAX_HIGHLIGHTS,
      description: 'Where the words stand in `text`: start and end, in UTF-16 units as in JavaScript.',
    }),
  },
  component('SearchHit'),
);

const foundSchema = Type.Object(
  {
    job_id: idSchema('job', 'job_01kamz2f3q8r5t7v9wxyzabcde'),
    created_at: timeSchema,
    title: nullable(Type.String(), 'As the job has it.'),
    filename: nullable(Type.String()),
    language: nullable(Type.String(), 'Of the text.'),
    hits: Type.Array(hitSchema, { maxItems: HITS_PER_JOB, description: 'In the order of the audio.' }),
  },
  component('SearchResult', {
    job_id: 'job_01kamz2f3q8r5t7v9wxyzabcde',
    created_at: '2026-11-21T09:30:00.000Z',
    title: null,
    filename: 'a.mp3',
    language: 'en',
    hits: [{ segment: 12, start: 61.2, end: 65, text: 'Ask what you can do.', highlights: [[0, 3]] }],
  }),
);

const searchQuery = Type.Object({
  q: Type.String({
    minLength: 1,
    maxLength: MAX_QUERY_CHARS,
    description: 'Words that stand near each other; `"phrase"` as it is written, `-not`, `or`.',
    examples: ['"annual budget" -draft'],
  }),
  language: Type.Optional(
    Type.String({ pattern: '^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$', description: 'Transcripts in this language only.' }),
  ),
  created_after: Type.Optional(timeParameter('Jobs created later than this time, or day in UTC.')),
  created_before: Type.Optional(timeParameter('Jobs created earlier.')),
  ...pageFields,
});

/** GET /v1/search. */
export function searchRoute({ db, config }: Runtime): Route {
  const atOnce = openFairSemaphore(SEARCHES_AT_ONCE);
  return defineRoute({
    method: 'GET',
    path: '/v1/search',
    auth: 'key',
    scope: 'jobs:read',
    summary: 'Find transcripts by their words, newest first',
    description:
      'Upper and lower case do not matter. Words match in all their forms, such as meeting and meetings, words in quotes ' +
      'as they are written. Several words match when they are spoken within some five minutes. A page may have fewer ' +
      'transcripts than `limit` although `has_more` is true.',
    errors: ['not_found'],
    tag: 'Transcription',
    schema: { query: searchQuery, answers: { 200: pageSchema('SearchResultList', foundSchema) } },
    async handle({ account, query, signal }) {
      if (config.search === 'off') throw new ApiError('not_found', 'Search is off on this service (SEARCH=off).');
      return { status: 200, body: await atOnce(account.id, () => search(db, account, query), signal) };
    },
  });
}

async function search(db: Database, account: Account, query: Static<typeof searchQuery>) {
  const owner = { shard: account.shard, accountId: account.id };
  const asked = parseSearchQuery(query.q);
  if (asked === null) {
    throw new ApiError('invalid_request', 'q must hold a word to look for, on each side of an or.', { param: 'q' });
  }
  const language = baseLanguage(query.language ?? null);
  const tags = [ownerTag(account.id), ...(language === null ? [] : [languageTag(language)])];
  const languages = language === null ? STEMMED_LANGUAGES : [language];
  const tsquery = tsqueryOf(asked, { tags, languages, stem: stemOf });
  const [createdAfter, createdBefore] = readTimeRange(['created_after', 'created_before'], query);
  const filter = {
    tsquery,
    createdAfter,
    createdBefore,
  };
  const range = { limit: query.limit + 1, beforeId: decodeCursor('job', query.cursor) };
  const jobs = await findMatchingJobs(db, owner, filter, range);
  const jobIds = jobs.slice(0, query.limit).map(({ id }) => id);
  const chunks = await readMatchingChunks(db, owner, { tsquery, jobIds, limit: HITS_PER_JOB });
  const fitting = countFitting(chunks);
  const byJob = Map.groupBy(chunks.slice(0, fitting), ({ jobId }) => jobId);
  const page = pageOf(jobs, countJobs(jobs, chunks[fitting], query.limit), (job) => job);
  const data = [];
  for (const job of page.data) {
    data.push(showFound(job, byJob.get(job.id) ?? [], { query: asked, languages }));
    // A page of long chunks takes half a second of processor time.
    await nextTurn();
  }
  return { ...page, data };
}

/** How many jobs are on the page: those before the one with the first chunk that does not fit, or one. */
function countJobs(jobs: FoundJob[], unfit: FoundChunk | undefined, limit: number): number {
  return unfit === undefined
    ? limit
    : Math.max(
        1,
        jobs.findIndex(({ id }) => id === unfit.jobId),
      );
}

function showFound(
  job: FoundJob,
  chunks: FoundChunk[],
  { query, languages }: { query: SearchQuery; languages: readonly string[] },
): Static<typeof foundSchema> {
  const options = { language: baseLanguage(job.language), languages, stem: stemOf, limit: HITS_PER_JOB };
  return {
    job_id: job.id,
    created_at: job.createdAt.toISOString(),
    title: job.title,
    filename: job.filename,
    language: job.language,
    hits: findHits(chunks, query, options),
  };
}
