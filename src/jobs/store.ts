import type { Sql } from '../db/database.ts';
import { selectColumns } from '../db/statements/columns.ts';
import type { AnswerMemory } from '../http/route.ts';
import { type FairSemaphore, openFairSemaphore } from '../platform/fair-semaphore.ts';
import { JOB_TABLE, type Job, type JobHead } from './job.ts';

const { accepted, requested, stored, source, executed, ended, timed } = JOB_TABLE;
const OPEN = { ...accepted, ...requested, ...stored, ...source, ...executed, ...timed };
const { transcript: _transcript, segments: _segments, ...SHORT_END } = ended;

/** The columns of a job without its result: a job that has not ended has `NO_RESULT`. */
export const OPEN_JOB_COLUMNS = selectColumns('jobs', OPEN);
/** Characters of its text that a job in a list shows. */
export const MAX_LIST_TEXT_CHARS = 500;
/** The columns of a job without its text. */
export const JOB_HEAD_COLUMNS = selectColumns('jobs', { ...OPEN, ...SHORT_END });
// Of all fields but options, tracks, metadata and tags, whose lengths differ most.
const OTHER_LIST_BYTES = 2048;
/**
 * The columns of a job in a list: the beginning of its text, with one character more than is shown, no segments, and
 * the size of the row for `firstBytes`.
 */
export const LIST_COLUMNS = `${JOB_HEAD_COLUMNS},
  left(jobs.transcript, ${MAX_LIST_TEXT_CHARS + 1}) as transcript, null as segments,
  octet_length(jobs.options::text) + octet_length(jobs.tracks::text) + coalesce(octet_length(jobs.metadata), 0)
    + octet_length(jobs.tags::text) + ${OTHER_LIST_BYTES} as "rowBytes"`;
/** The columns of a job without its words, which are long. */
export const JOB_COLUMNS = selectColumns('jobs', { ...OPEN, ...ended });

// Of text, segments and words together. A longer job is read by a statement of its own, on a connection where nothing
// waits behind it.
export const LONG_BYTES = 256 * 1024;
/** The turns of those who read long jobs: ten at once would fill the memory, and delay all other requests. */
export const longReads = openFairSemaphore({ permits: 2, perOwner: 1 });
/** The turns of those who have links: strangers do not delay an account that reads with its keys. */
export const longReadsByLink = openFairSemaphore({ permits: 1, perOwner: 1 });

const TEXT_BYTES = `coalesce(octet_length(jobs.transcript), 0) + coalesce(octet_length(jobs.segments), 0)
          + case when $4::boolean then coalesce(octet_length(jobs.words), 0) else 0 end`;
const TEXT = 'jobs.transcript, jobs.segments, case when $4::boolean then jobs.words end as words';

type FindOptions = {
  withWords?: boolean;
  reserve?: (bytes: number) => void;
  signal?: AbortSignal;
  turns?: FairSemaphore;
};
type OwnedKey = JobKey & { accountId: string };

/**
 * Null for a job that does not exist, or is of another account.
 * @param withWords  reads the packed words too
 * @param reserve    called with the bytes of a long job before it is read; may throw
 * @param signal     ends the wait for the turn to read a long job
 * @param turns      of those who read long jobs
 */
export async function findJob(
  sql: Sql,
  { shard, accountId, id }: OwnedKey,
  { withWords = false, reserve = () => undefined, signal, turns = longReads }: FindOptions = {},
): Promise<Job | null> {
  const values = [shard, id, accountId, withWords];
  const [found] = await sql.rows<Job & { textBytes: number }>({
    name: 'find_job',
    isBrief: true,
    text: `
      select ${JOB_HEAD_COLUMNS}, short.*,
        ${TEXT_BYTES} as "textBytes"
      from jobs
      left join lateral (select ${TEXT}) as short on ${TEXT_BYTES} <= ${LONG_BYTES}
      where jobs.shard = $1 and jobs.id = $2 and jobs.account_id = $3`,
    values,
  });
  if (found === undefined) return null;
  const { textBytes, ...job } = found;
  if (textBytes <= LONG_BYTES) return job;
  const readText = async () => {
    reserve(textBytes);
    const [text] = await sql.rows<Pick<Job, 'transcript' | 'segments' | 'words'>>({
      name: 'find_long_text',
      text: `
        select ${TEXT}
        from jobs
        where shard = $1 and id = $2 and account_id = $3`,
      values,
    });
    return text ? { ...job, ...text } : null;
  };
  return await turns(accountId, readText, signal);
}

/**
 * Reserves the memory for a long job before a request changes it, whose answer shows it.
 * @throws ApiError  as `memory.reserve`
 */
export async function reserveText(sql: Sql, { shard, accountId, id }: OwnedKey, memory: AnswerMemory): Promise<void> {
  const [row] = await sql.rows<{ textBytes: number }>({
    name: 'find_text_bytes',
    isBrief: true,
    text: `
      select ${TEXT_BYTES} as "textBytes"
      from jobs
      where shard = $1 and id = $2 and account_id = $3`,
    values: [shard, id, accountId, false],
  });
  if (row && row.textBytes > LONG_BYTES) memory.reserve(row.textBytes);
}

/** A job without its text; null for one that does not exist, or is of another account. */
export async function findJobHead(sql: Sql, { shard, accountId, id }: OwnedKey): Promise<JobHead | null> {
  const rows = await sql.rows<JobHead>({
    name: 'find_job_head',
    isBrief: true,
    text: `
      select ${JOB_HEAD_COLUMNS}
      from jobs
      where shard = $1 and id = $2 and account_id = $3`,
    values: [shard, id, accountId],
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
