import type { Sql } from '../db/database.ts';
import type { Plan } from '../rules/accounts/plan.ts';
import type { JobState } from '../rules/jobs/job-state.ts';
import type { Job } from './job.ts';

const COLUMNS =
  `shard id account_id state plan language word_times metadata filename format size_bytes audio_key duration_ms
  held_units transcribed_units cost_units attempts lease progress model detected_language transcript error_type
  error_message created_at started_at completed_at`.split(/\s+/);

/** A job's columns without its segments, which are long. @param table  the name of jobs in the statement */
function columnsOf(table: string): string {
  return COLUMNS.map((name) => `${table}.${name} as "${camelCase(name)}"`).join(', ');
}

export const JOB_COLUMNS = `${columnsOf('jobs')}, jobs.segments`;
const LIST_COLUMNS = `${columnsOf('jobs')}, null as segments`;

export type NewJob = Pick<
  Job,
  | 'shard'
  | 'id'
  | 'accountId'
  | 'plan'
  | 'language'
  | 'wordTimes'
  | 'metadata'
  | 'filename'
  | 'format'
  | 'sizeBytes'
  | 'audioKey'
  | 'durationMs'
  | 'heldUnits'
>;

/** Inserts a queued job that is due at once, and notifies the transcribers when the transaction commits. */
export async function insertJob(tx: Sql, job: NewJob, now: Date | null = null): Promise<Job> {
  const rows = await tx.rows<Job>({
    name: 'insert_job',
    text: `
      insert into jobs
        (shard, id, account_id, state, plan, language, word_times, metadata, filename, format, size_bytes, audio_key,
         duration_ms, held_units, next_at, created_at)
      select $1, $2, $3, 'queued', $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, moment, moment
      from (select coalesce($14::timestamptz, clock_timestamp()) as moment) as clock
      returning ${JOB_COLUMNS}, pg_notify('jobs_due', '')`,
    values: [
      job.shard,
      job.id,
      job.accountId,
      job.plan,
      job.language,
      job.wordTimes,
      job.metadata,
      job.filename,
      job.format,
      job.sizeBytes,
      job.audioKey,
      job.durationMs,
      job.heldUnits,
      now,
    ],
  });
  return rows[0]!;
}

export async function findJob(
  sql: Sql,
  { shard, accountId, id }: { shard: number; accountId: string; id: string },
): Promise<Job | null> {
  const rows = await sql.rows<Job>({
    name: 'find_job',
    isBrief: true,
    text: `select ${JOB_COLUMNS} from jobs where shard = $1 and id = $2 and account_id = $3`,
    values: [shard, id, accountId],
  });
  return rows[0] ?? null;
}

export type JobFilter = {
  status: JobState | null;
  plan: Plan | null;
  createdAfter: Date | null;
  createdBefore: Date | null;
};

/** Newest first, without segments. @param beforeId  null for the first page */
export async function listJobs(
  sql: Sql,
  { shard, accountId }: { shard: number; accountId: string },
  filter: JobFilter,
  { limit, beforeId }: { limit: number; beforeId: string | null },
): Promise<Job[]> {
  return await sql.rows<Job>({
    name: 'list_jobs',
    isBrief: true,
    text: `
      select ${LIST_COLUMNS}
      from jobs
      where shard = $1 and account_id = $2
        and ($3::text is null or id < $3)
        and ($4::text is null or state = $4)
        and ($5::text is null or plan = $5)
        and ($6::timestamptz is null or created_at > $6)
        and ($7::timestamptz is null or created_at < $7)
      order by id desc
      limit $8`,
    values: [shard, accountId, beforeId, filter.status, filter.plan, filter.createdAfter, filter.createdBefore, limit],
  });
}

/** The number of queued jobs in all shards; counting stops at `atMost`. */
export async function countQueuedJobs(sql: Sql, atMost: number): Promise<number> {
  const rows = await sql.rows<{ count: number }>({
    name: 'count_queued_jobs',
    text: `
      -- every shard: the bound holds for the whole service
      select count(*) as count
      from (
        select 1
        from jobs
        where state = 'queued'
        limit $1
      ) as queued`,
    values: [atMost],
  });
  return rows[0]!.count;
}

export type JobKey = { shard: number; id: string };

/** The ids of those of the jobs that have ended or were deleted. */
export async function findEnded(sql: Sql, jobs: JobKey[]): Promise<string[]> {
  const rows = await sql.rows<{ id: string }>({
    name: 'find_ended_jobs',
    text: `
      select wanted.id
      from unnest($1::smallint[], $2::text[]) as wanted (shard, id)
      left join jobs on jobs.shard = wanted.shard and jobs.id = wanted.id
      where jobs.completed_at is not null or jobs.id is null`,
    values: [jobs.map((job) => job.shard), jobs.map((job) => job.id)],
  });
  return rows.map((row) => row.id);
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
