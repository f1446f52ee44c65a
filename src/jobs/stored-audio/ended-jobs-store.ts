import type { Sql } from '../../db/database.ts';
import type { WarningCode } from '../../rules/jobs/warnings.ts';
import type { JobErrorType, JobHead } from '../job.ts';
import { JOB_HEAD_COLUMNS } from '../store.ts';

const HAS_WARNING = `state = 'completed' and warnings @> $4::jsonb
        and not exists (
          select from jobs first
          where first.shard = jobs.shard and first.id = jobs.retry_of and first.warnings @> $4::jsonb
        )`;

/** Position of a search: after the job with this end and id. */
export type EndedPlace = { at: string; id: string };

/** Which jobs to find: those that failed with an error, or that completed with a warning. */
export type EndedWith = { errorType: JobErrorType } | { warning: WarningCode };

/** Whether a job was retried. Until the transaction ends, no other one retries a job. */
export async function lockRetries(
  tx: Sql,
  { shard, id }: Pick<JobHead, 'shard' | 'id'>,
): Promise<{ isRetried: boolean }> {
  await tx.rows({ text: 'select pg_advisory_xact_lock(3, 0)' });
  const again = await tx.rows({ text: 'select from jobs where shard = $1 and retry_of = $2', values: [shard, id] });
  return { isRetried: again.length > 0 };
}

/**
 * Ended jobs of all accounts that were not retried by an operator, oldest end first. A retry that completed with the
 * warning of the job that it repeats is left out: the audio is the cause.
 * @param until  jobs that ended later are left out
 */
export async function findEndedJobs(
  sql: Sql,
  { after, until, endedWith, limit }: { after: EndedPlace; until: Date; endedWith: EndedWith; limit: number },
): Promise<(JobHead & { at: string })[]> {
  const isWarned = 'warning' in endedWith;
  const has = isWarned ? HAS_WARNING : `state = 'failed' and error_type = $4`;
  return await sql.rows({
    text: `
      -- every shard: a search of the operator
      select ${JOB_HEAD_COLUMNS}, jobs.completed_at::text as at
      from jobs
      where ${has}
        and completed_at is not null
        and (completed_at, id) > ($1::timestamptz, $2)
        and completed_at <= $3
        and not exists (select from jobs again where again.shard = jobs.shard and again.retry_of = jobs.id)
      order by completed_at, id
      limit $5`,
    values: [
      after.at,
      after.id,
      until,
      isWarned ? JSON.stringify([{ code: endedWith.warning }]) : endedWith.errorType,
      limit,
    ],
  });
}

/** Notes the job that a new job repeats, in the transaction that inserts the new one. */
export async function setRetryOf(
  tx: Sql,
  { shard, id }: { shard: number; id: string },
  retryOf: string,
): Promise<void> {
  await tx.run({ text: 'update jobs set retry_of = $3 where shard = $1 and id = $2', values: [shard, id, retryOf] });
}
