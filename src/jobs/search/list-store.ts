import type { Sql } from '../../db/database.ts';
import { firstBytes, type SizedRow } from '../../db/statements/page-bytes.ts';
import type { Plan } from '../../rules/accounts/plan.ts';
import type { JobState } from '../../rules/jobs/job-state.ts';
import type { MetadataPair } from '../../rules/search/metadata-pairs.ts';
import type { AccountRef } from '../../rules/shard.ts';
import type { Job } from '../job.ts';
import { LIST_COLUMNS } from '../store.ts';

type ListedJob = Job & SizedRow;

export type JobFilter = {
  status: JobState | null;
  plan: Plan | null;
  createdAfter: Date | null;
  createdBefore: Date | null;
  /** A regular expression of PostgreSQL for the title or the file name. */
  name: string | null;
  /** The first and last id that a job may have. */
  ids: { first: string; last: string } | null;
  /** The job must have all of them. */
  pairs: MetadataPair[];
};

/** A part of the list. @property beforeId  null for the newest @property fromId  null for no end */
export type JobRange = { beforeId: string | null; fromId: string | null };

// Jobs show whole milliseconds of their times: one that shows the time asked for is not after it.
const MATCHES = `
          ($4::text is null or jobs.id >= $4)
          and ($5::text is null or jobs.state = $5)
          and ($6::text is null or jobs.plan = $6)
          and ($7::timestamptz is null or jobs.created_at >= $7::timestamptz + interval '1 millisecond')
          and ($8::timestamptz is null or jobs.created_at < $8)
          and ($9::text is null or jobs.filename ~ $9 or jobs.title ~ $9)
          and ($10::text is null or jobs.id >= $10)
          and ($11::text is null or jobs.id <= $11)`;

const LIST_ALL = firstBytes(
  `
      select ${LIST_COLUMNS}
      from jobs
      where jobs.shard = $1 and jobs.account_id = $2 and ($3::text is null or jobs.id < $3)
        and ${MATCHES}
      order by jobs.id desc
      limit $12`,
  'id desc',
);

// Reads the jobs with the first pair in order, and looks for the others.
const LIST_BY_METADATA = firstBytes(
  `
      select ${LIST_COLUMNS}
      from job_metadata as pair
      join jobs on jobs.shard = $1 and jobs.id = pair.job_id
      where pair.shard = $1 and pair.account_id = $2 and ($3::text is null or pair.job_id < $3)
        and pair.key = $13 and pair.value = $14
        and ${MATCHES}
        and not exists (
          select
          from unnest($15::text[], $16::text[]) as other (key, value)
          where not exists (
            select
            from job_metadata as found
            where found.shard = $1 and found.account_id = $2 and found.key = other.key and found.value = other.value
              and found.job_id = pair.job_id
          )
        )
      order by pair.job_id desc
      limit $12`,
  'id desc',
);

/** Jobs that match, newest first, without segments; at most `limit`, and not many more than fit on a page. */
export async function listJobs(
  sql: Sql,
  { shard, accountId }: AccountRef,
  filter: JobFilter,
  { limit, beforeId, fromId }: JobRange & { limit: number },
): Promise<ListedJob[]> {
  const { status, plan, createdAfter, createdBefore, name, ids } = filter;
  const values = [shard, accountId, beforeId, fromId, status, plan, createdAfter, createdBefore, name];
  values.push(ids?.first ?? null, ids?.last ?? null, limit);
  const [first, ...others] = filter.pairs;
  if (first === undefined)
    return await sql.rows<ListedJob>({ name: 'list_jobs', isBrief: true, text: LIST_ALL, values });
  const keys = others.map(({ key }) => key);
  return await sql.rows<ListedJob>({
    name: 'list_jobs_by_metadata',
    text: LIST_BY_METADATA,
    values: [...values, first.key, first.value, keys, others.map(({ value }) => value)],
  });
}

/**
 * Where a list ends whose filters need every job to be read: the id of the last of the next `limit` jobs, or of the
 * next `limit` jobs with the pair. Null when there are fewer.
 */
export async function findListEnd(
  sql: Sql,
  { shard, accountId }: AccountRef,
  { beforeId, pair, limit }: { beforeId: string | null; pair: MetadataPair | null; limit: number },
): Promise<string | null> {
  const values = [shard, accountId, beforeId, limit - 1];
  const rows = await sql.rows<{ id: string }>(
    pair === null
      ? {
          name: 'find_list_end',
          text: `
      select id
      from jobs
      where shard = $1 and account_id = $2 and ($3::text is null or id < $3)
      order by id desc
      offset $4
      limit 1`,
          values,
        }
      : {
          name: 'find_metadata_list_end',
          text: `
      select job_id as id
      from job_metadata
      where shard = $1 and account_id = $2 and ($3::text is null or job_id < $3) and key = $5 and value = $6
      order by job_id desc
      offset $4
      limit 1`,
          values: [...values, pair.key, pair.value],
        },
  );
  return rows[0]?.id ?? null;
}
