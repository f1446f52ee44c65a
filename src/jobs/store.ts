import type { Sql } from '../db/database.ts';
import type { Job } from './job.ts';

const REQUEST_COLUMNS =
  `shard id account_id key_id state plan language word_times options metadata filename format size_bytes tracks audio_key
  audio_source duration_ms unlimited held_units transcribed_units attempts lease progress created_at started_at`.split(
    /\s+/,
  );
const RESULT_COLUMNS =
  `cost_units model detected_language transcript speakers warnings error_type error_message error_reason error_http_status
  completed_at expires_at`.split(/\s+/);

/** The columns of a job without its result: a job that has not ended has `NO_RESULT`. */
export const OPEN_JOB_COLUMNS = columnsOf(REQUEST_COLUMNS);
/** Characters of its text that a job in a list shows. */
export const MAX_LIST_TEXT_CHARS = 500;
/** The columns of a job in a list: the beginning of its text, with one character more than is shown, and no segments. */
export const LIST_COLUMNS = `${columnsOf([...REQUEST_COLUMNS, ...RESULT_COLUMNS.filter((name) => name !== 'transcript')])},
  left(jobs.transcript, ${MAX_LIST_TEXT_CHARS + 1}) as transcript, null as segments`;
/** The columns of a job without its words, which are long. */
export const JOB_COLUMNS = `${columnsOf([...REQUEST_COLUMNS, ...RESULT_COLUMNS])}, jobs.segments`;

function columnsOf(names: string[]): string {
  return names.map((name) => `jobs.${name} as "${camelCase(name)}"`).join(', ');
}

/** Null for a job that does not exist, or is of another account. @param withWords  reads the packed words too */
export async function findJob(
  sql: Sql,
  { shard, accountId, id }: { shard: number; accountId: string; id: string },
  { withWords = false } = {},
): Promise<Job | null> {
  const rows = await sql.rows<Job>({
    name: 'find_job',
    isBrief: true,
    text: `select ${JOB_COLUMNS}, case when $4::boolean then words end as words
      from jobs
      where shard = $1 and id = $2 and account_id = $3`,
    values: [shard, id, accountId, withWords],
  });
  return rows[0] ?? null;
}

export type JobKey = { shard: number; id: string };

/** Whether the jobs have ended, without those that do not exist. */
export async function findEnds(sql: Sql, jobs: JobKey[]): Promise<{ id: string; hasEnded: boolean }[]> {
  return await sql.rows({
    name: 'find_job_ends',
    text: `
      select id, completed_at is not null as "hasEnded"
      from jobs
      where shard = any($1::smallint[]) and id = any($2::text[])`,
    values: [jobs.map((job) => job.shard), jobs.map((job) => job.id)],
  });
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
