import type { Sql } from '../db/database.ts';
import type { JobState } from '../rules/jobs/job-state.ts';
import { SHARD_COUNT, shardOf } from '../rules/shard.ts';
import type { Job } from './job.ts';

/** A job without anything that its account sent or was given: no names, texts or metadata. */
export type JobSummary = Pick<
  Job,
  | 'id'
  | 'accountId'
  | 'state'
  | 'plan'
  | 'model'
  | 'durationMs'
  | 'sizeBytes'
  | 'progress'
  | 'attempts'
  | 'errorType'
  | 'createdAt'
  | 'startedAt'
  | 'completedAt'
> & {
  /** The process that works on it, or did so last: `<node>/<process>`. */
  holder: string | null;
};

type SummaryFilter = { status: JobState | null; accountId: string | null };

/**
 * Jobs of all accounts, newest first. One statement per shard, each by the primary key.
 * @param beforeId  null: the first page
 */
export async function listJobSummaries(
  sql: Sql,
  filter: SummaryFilter,
  page: { limit: number; beforeId: string | null },
): Promise<JobSummary[]> {
  const shards =
    filter.accountId === null ? Array.from({ length: SHARD_COUNT }, (_, i) => i) : [shardOf(filter.accountId)];
  const found: JobSummary[] = [];
  for (const shard of shards) found.push(...(await listOfShard(sql, shard, filter, page)));
  return found.sort((one, other) => (one.id < other.id ? 1 : -1)).slice(0, page.limit);
}

async function listOfShard(
  sql: Sql,
  shard: number,
  { status, accountId }: SummaryFilter,
  { limit, beforeId }: { limit: number; beforeId: string | null },
): Promise<JobSummary[]> {
  return await sql.rows<JobSummary>({
    name: 'list_job_summaries',
    text: `
      select id, account_id as "accountId", state, plan, model, duration_ms as "durationMs", size_bytes as "sizeBytes",
        progress, attempts, holder, error_type as "errorType", created_at as "createdAt", started_at as "startedAt",
        completed_at as "completedAt"
      from jobs
      where shard = $1
        and ($2::text is null or id < $2)
        and ($3::text is null or state = $3)
        and ($4::text is null or account_id = $4)
      order by id desc
      limit $5`,
    values: [shard, beforeId, status, accountId, limit],
  });
}

/** The number of jobs under way in all shards. */
export async function countRunningJobs(sql: Sql): Promise<number> {
  const [row] = await sql.rows<{ jobs: number }>({
    text: `
      -- every shard: a figure for the operator
      select count(*) as jobs
      from jobs
      where state = 'processing'`,
  });
  return row!.jobs;
}
