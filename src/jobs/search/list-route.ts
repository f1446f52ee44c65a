import type { Account } from '../../accounts/account.ts';
import type { Database } from '../../db/database.ts';
import type { Runtime } from '../../db/runtime.ts';
import { countFitting } from '../../db/statements/page-bytes.ts';
import { csvField, jsonOrCsv, jsonOrCsvAnswer } from '../../http/csv.ts';
import { decodeCursor, encodeCursor, type Page, pageFields, pageOf } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { oneOf, type Static, Type } from '../../http/schema.ts';
import { readTimeRange, timeParameter } from '../../http/time-parameter.ts';
import { openFairSemaphore } from '../../platform/fair-semaphore.ts';
import { PLANS } from '../../rules/accounts/plan.ts';
import { JOB_STATES } from '../../rules/jobs/job-state.ts';
import { canBeFound, type MetadataPair, tagPair } from '../../rules/search/metadata-pairs.ts';
import { namePattern } from '../../rules/search/name-pattern.ts';
import { readTag, tagParameter } from '../request/names.ts';
import { jobInListSchema, jobListSchema } from '../schemas.ts';
import { showJobInList } from '../view.ts';
import { openPlanWaits, type PlanWaits } from '../waiting/plan-waits.ts';
import { findListEnd, type JobFilter, listJobs } from './list-store.ts';

const MAX_PAIRS = 3;
const MAX_QUERY_CHARS = 200;
// With a filter that no index serves, a page reads at most this number of jobs: 20 ms. The next page goes on there.
const MAX_JOBS_READ = 20_000;
// Such pages take processor time of the database: the other requests keep most of it.
const READS_AT_ONCE = { permits: 4, perOwner: 2 };
// With fewer characters, nearly all ids of a century begin so.
const ID_PREFIX = /^job_[0-9a-z]{8,26}$/;
const ID_CHARS = 30;

const listQuery = Type.Object({
  ...pageFields,
  ...csvField,
  status: Type.Optional(oneOf(JOB_STATES)),
  plan: Type.Optional(oneOf(PLANS)),
  created_after: Type.Optional(timeParameter('Jobs created later than this time, or day in UTC.')),
  created_before: Type.Optional(timeParameter('Jobs created earlier.')),
  query: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: MAX_QUERY_CHARS,
      description:
        'A part of the title or of the file name, in upper or lower case; or an id, or its first 12 characters or more.',
    }),
  ),
  tag: Type.Optional(tagParameter),
  metadata: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      maxProperties: MAX_PAIRS,
      description:
        'As `metadata[key]=value`: jobs whose metadata is an object with this string, number or boolean at its top level, compared as text.',
    }),
  ),
});

/** GET /v1/jobs. */
export function listRoute({ db, clock }: Runtime): Route {
  const waits = openPlanWaits({ db, clock });
  const readsAtOnce = openFairSemaphore(READS_AT_ONCE);
  return defineRoute({
    method: 'GET',
    path: '/v1/jobs',
    auth: 'key',
    scope: 'jobs:read',
    bucket: 'jobs',
    summary: 'List jobs, newest first',
    description:
      'With `query`, `tag` or `metadata`, or where jobs have long options, a page may have fewer jobs than `limit`, or none, although `has_more` is true: follow `next_cursor`.',
    tag: 'Transcription',
    schema: { query: listQuery, answers: { 200: jsonOrCsv(jobListSchema) } },
    async handle({ account, query, header, signal }) {
      const read = () => readPage({ db, waits }, account, query);
      const readsAll = query.query !== undefined || query.metadata !== undefined || query.tag !== undefined;
      const body = await (readsAll ? readsAtOnce(account.id, read, signal) : read());
      const wish = { format: query.format, accept: header('accept') };
      return jsonOrCsvAnswer(wish, { name: 'jobs', row: jobInListSchema, body });
    },
  });
}

type JobPage = Page<Static<typeof jobInListSchema>>;

async function readPage(
  { db, waits }: { db: Database; waits: PlanWaits },
  account: Account,
  query: Static<typeof listQuery>,
): Promise<JobPage> {
  const { limit } = query;
  const filter = readFilter(query);
  const beforeId = decodeCursor('job', query.cursor);
  if (!metadataOf(query).every(canBeFound)) return { data: [], has_more: false, next_cursor: null };
  const owner = { shard: account.shard, accountId: account.id };
  const pair = filter.pairs[0] ?? null;
  const readsAll = filter.name !== null || pair !== null;
  const fromId = readsAll ? await findListEnd(db, owner, { beforeId, pair, limit: MAX_JOBS_READ }) : null;
  const rows = await listJobs(db, owner, filter, { limit: limit + 1, beforeId, fromId });
  const shown = await waits.addTo(rows);
  const page = pageOf(shown, Math.min(limit, countFitting(rows)), showJobInList);
  if (page.has_more || fromId === null) return page;
  return { ...page, has_more: true, next_cursor: encodeCursor(fromId) };
}

function readFilter(query: Static<typeof listQuery>): JobFilter {
  const text = query.query ?? null;
  const [createdAfter, createdBefore] = readTimeRange(['created_after', 'created_before'], query);
  const tags = query.tag === undefined ? [] : [readTag(query.tag, { param: 'tag', entry: 'tag' })];
  const isId = text !== null && ID_PREFIX.test(text);
  return {
    status: query.status ?? null,
    plan: query.plan ?? null,
    createdAfter,
    createdBefore,
    name: text === null || isId ? null : namePattern(text),
    ids: isId ? { first: text, last: text.padEnd(ID_CHARS, 'z') } : null,
    pairs: [...metadataOf(query), ...tags.map(tagPair)],
  };
}

function metadataOf({ metadata = {} }: Static<typeof listQuery>): MetadataPair[] {
  return Object.entries(metadata).map(([key, value]) => ({ key, value }));
}
