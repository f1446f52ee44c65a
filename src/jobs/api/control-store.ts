import type { Sql } from '../../db/database.ts';
import type { Job } from '../job.ts';
import { JOB_COLUMNS } from '../store.ts';

/** The job, locked for the rest of the transaction, so that it is neither started nor ended meanwhile. */
export async function lockJob(
  tx: Sql,
  { shard, accountId, id }: { shard: number; accountId: string; id: string },
): Promise<Job | null> {
  const rows = await tx.rows<Job>({
    name: 'lock_job',
    text: `select ${JOB_COLUMNS} from jobs where shard = $1 and id = $2 and account_id = $3 for update`,
    values: [shard, id, accountId],
  });
  return rows[0] ?? null;
}

/** Cancels a job that has not ended, and notifies its worker and everything that waits for it. */
export async function cancelOpenJob(
  tx: Sql,
  { shard, id }: Pick<Job, 'shard' | 'id'>,
  { costUnits, now }: { costUnits: number; now: Date | null },
): Promise<Job> {
  const rows = await tx.rows<Job>({
    name: 'cancel_job',
    text: `
      with canceled as (
        update jobs
        set state = 'canceled', cost_units = $4, next_at = null,
          completed_at = coalesce($3::timestamptz, clock_timestamp())
        where shard = $1 and id = $2 and state in ('queued', 'processing')
        returning ${JOB_COLUMNS}, pg_notify('job_ended', id), pg_notify('job_changed', id)
      ), swept as (
        delete from job_pieces
        where shard = $1 and job_id = $2 and exists (select 1 from canceled)
      )
      select canceled.*
      from canceled`,
    values: [shard, id, now, costUnits],
  });
  return rows[0]!;
}

/** Deletes the row of a job that has ended. */
export async function deleteEndedJob(tx: Sql, { shard, id }: Pick<Job, 'shard' | 'id'>): Promise<void> {
  await tx.run({
    name: 'delete_job',
    text: `
      delete from jobs
      where shard = $1 and id = $2 and completed_at is not null`,
    values: [shard, id],
  });
}
