import type { Sql } from '../db/database.ts';
import { selectColumns } from '../db/statements/columns.ts';
import { JOB_TABLE, type Job } from './job.ts';

const { accepted, requested, stored, source, executed, ended, timed } = JOB_TABLE;
const OPEN = { ...accepted, ...requested, ...stored, ...source, ...executed, ...timed };
const { transcript: _transcript, segments: _segments, ...SHORT_END } = ended;

/** The columns of a job without its result: a job that has not ended has `NO_RESULT`. */
export const OPEN_JOB_COLUMNS = selectColumns('jobs', OPEN);
/** Characters of its text that a job in a list shows. */
export const MAX_LIST_TEXT_CHARS = 500;
/** The columns of a job in a list: the beginning of its text, with one character more than is shown, and no segments. */
export const LIST_COLUMNS = `${selectColumns('jobs', { ...OPEN, ...SHORT_END })},
  left(jobs.transcript, ${MAX_LIST_TEXT_CHARS + 1}) as transcript, null as segments`;
/** The columns of a job without its words, which are long. */
export const JOB_COLUMNS = selectColumns('jobs', { ...OPEN, ...ended });

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
