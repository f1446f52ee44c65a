import type { Sql } from '../../db/database.ts';
import type { JobErrorType, JobHead } from '../job.ts';
import { JOB_HEAD_COLUMNS } from '../store.ts';

/** Position of a search: after the job with this end and id. */
export type FailedPlace = { at: string; id: string };

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
 * Failed jobs of all accounts that were not retried by an operator, oldest end first.
 * @param until  jobs that failed later are left out
 */
export async function findFailedJobs(
  sql: Sql,
  { after, until, errorType, limit }: { after: FailedPlace; until: Date; errorType: JobErrorType; limit: number },
): Promise<(JobHead & { at: string })[]> {
  return await sql.rows({
    text: `
      -- every shard: a search of the operator
      select ${JOB_HEAD_COLUMNS}, jobs.completed_at::text as at
      from jobs
      where state = 'failed'
        and completed_at is not null
        and (completed_at, id) > ($1::timestamptz, $2)
        and completed_at <= $3
        and error_type = $4
        and not exists (select from jobs again where again.shard = jobs.shard and again.retry_of = jobs.id)
      order by completed_at, id
      limit $5`,
    values: [after.at, after.id, until, errorType, limit],
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
