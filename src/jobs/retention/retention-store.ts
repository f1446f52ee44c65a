import type { Sql } from '../../db/database.ts';
import { WEBHOOK_ID_OF_JOB } from '../../db/statements/webhook-ids.ts';
import { deleteWebhooksOf } from '../../webhooks/endpoints/job-webhook-store.ts';
import type { Job, JobHead } from '../job.ts';
import { deleteUploadRequestsOf } from '../repeats/repeat-store.ts';
import { deleteChunksOf } from '../search/chunk-store.ts';
import { deletePairsOf } from '../search/metadata-store.ts';
import { deleteSharesOf } from '../sharing/share-store.ts';
import { JOB_HEAD_COLUMNS } from '../store.ts';

export type OldJobs = { shard: number; keepDays: number; limit: number; now?: Date | null };

/**
 * Deletes at most `limit` jobs of a shard that ended `keepDays` ago or earlier, oldest first, with their pieces;
 * returns their number. A job whose audio is still stored is kept until the audio is erased, so that no file is left
 * behind.
 */
export async function deleteOldJobs(sql: Sql, { shard, keepDays, limit, now = null }: OldJobs): Promise<number> {
  const [row] = await sql.rows<{ jobs: number }>({
    name: 'delete-old-jobs',
    text: `with deleted as (
        delete from jobs
        where shard = $1 and completed_at is not null and id = any(array(
          select id
          from jobs
          where shard = $1 and audio_key is null
            and completed_at <= coalesce($2::timestamptz, clock_timestamp()) - $3::float8 * interval '24 hours'
          order by completed_at
          limit $4
        ))
        returning id
      ),
      deleted_pieces as (
        delete from job_pieces
        where shard = $1 and job_id = any(array(select id from deleted))
      ),
      deleted_chunks as (${deleteChunksOf('array(select id from deleted)')}
      ),
      deleted_pairs as (${deletePairsOf('array(select id from deleted)')}
      ),
      deleted_shares as (${deleteSharesOf('array(select id from deleted)')}
      ),
      deleted_webhooks as (${deleteWebhooksOf(`array(select ${WEBHOOK_ID_OF_JOB('id')} from deleted)`)}
      )
      select count(*) as jobs
      from deleted`,
    values: [shard, now, keepDays, limit],
  });
  return row!.jobs;
}

/** Deletes the row of a job that has ended, with the index of its transcript and of its metadata. */
export async function deleteEndedJob(tx: Sql, { shard, id }: Pick<Job, 'shard' | 'id'>): Promise<void> {
  await tx.run({
    name: 'delete_job',
    text: `
      with deleted as (
        delete from jobs
        where shard = $1 and id = $2 and completed_at is not null
      ), deleted_chunks as (${deleteChunksOf('array[$2::text]')}
      ), deleted_pairs as (${deletePairsOf('array[$2::text]')}
      ), deleted_shares as (${deleteSharesOf('array[$2::text]')}
      ), deleted_requests as (${deleteUploadRequestsOf('array[$2::text]')}
      )
      select`,
    values: [shard, id],
  });
}

/** A job whose time is over, and whether it is erased even if a delivery of it still waits. */
export type ExpiredJob = { id: string; expiresAt: Date; isOverdue: boolean };

type Expiry = {
  shard: number;
  /** Only jobs that ended at least this long ago. */
  minAgeMs: number;
  /** From when on after its time a job counts as overdue. */
  overdueMs: number;
  /** The last job of the page before; null for the first page. */
  after: ExpiredJob | null;
  limit: number;
  now: Date | null;
};

/** Jobs of a shard whose time is over, in the order of their times. */
export async function findExpiredJobs(
  sql: Sql,
  { shard, minAgeMs, overdueMs, after, limit, now }: Expiry,
): Promise<ExpiredJob[]> {
  return await sql.rows<ExpiredJob>({
    name: 'find_expired_jobs',
    text: `
      with clock as (
        select coalesce($2::timestamptz, clock_timestamp()) as moment
      )
      select id, expires_at as "expiresAt",
        expires_at <= (select moment from clock) - $4 * interval '1 millisecond' as "isOverdue"
      from jobs
      where shard = $1 and expires_at <= (select moment from clock)
        and completed_at <= (select moment from clock) - $3 * interval '1 millisecond'
        and ($5::timestamptz is null or (expires_at, id) > ($5, $6))
      order by expires_at, id
      limit $7`,
    values: [shard, now, minAgeMs, overdueMs, after?.expiresAt ?? null, after?.id ?? null, limit],
  });
}

/** An ended job with a time, locked for the rest of the transaction; null when it is gone. */
export async function lockExpiredJob(tx: Sql, { shard, id }: Pick<Job, 'shard' | 'id'>): Promise<JobHead | null> {
  const rows = await tx.rows<JobHead>({
    name: 'lock_expired_job',
    text: `select ${JOB_HEAD_COLUMNS} from jobs where shard = $1 and id = $2 and expires_at is not null for update`,
    values: [shard, id],
  });
  return rows[0] ?? null;
}
