import type { Sql } from '../../db/database.ts';
import type { JobKey } from '../store.ts';

/** An upload as it is compared with others of its account. */
export type UploadDigest = { shard: number; accountId: string; digest: string };

/** Stores which upload made a job, in the transaction that inserts the job. */
export async function insertUploadRequest(
  sql: Sql,
  { shard, accountId, digest, jobId, keepMs }: UploadDigest & { jobId: string; keepMs: number },
): Promise<void> {
  await sql.run({
    name: 'insert_upload_request',
    text: `
      with clock as (
        select clock_timestamp() as moment
      )
      insert into upload_requests (shard, job_id, account_id, digest, expires_at)
      select $1, $2, $3, $4, moment + $5 * interval '1 millisecond'
      from clock`,
    values: [shard, jobId, accountId, digest, keepMs],
  });
}

/**
 * The id of the newest job of an equal upload that has not ended, or ended at most `joinMs` ago; null without one.
 * @param isRetry  the client says that it repeats a request; else only an upload whose caller hung up counts
 */
export async function findEarlierJob(
  sql: Sql,
  { shard, accountId, digest, isRetry, joinMs }: UploadDigest & { isRetry: boolean; joinMs: number },
): Promise<string | null> {
  const [found] = await sql.rows<{ jobId: string }>({
    name: 'find_earlier_job',
    text: `
      select jobs.id as "jobId"
      from upload_requests
      join jobs on jobs.shard = upload_requests.shard and jobs.id = upload_requests.job_id
      where upload_requests.shard = $1
        and upload_requests.account_id = $2
        and upload_requests.digest = $3
        and (upload_requests.is_unanswered or $4)
        and (jobs.completed_at is null or jobs.completed_at > clock_timestamp() - $5 * interval '1 millisecond')
      order by jobs.id desc
      limit 1`,
    values: [shard, accountId, digest, isRetry, joinMs],
  });
  return found?.jobId ?? null;
}

/** Stores whether the last request for a job was answered. */
export async function setUnanswered(sql: Sql, { shard, id }: JobKey, isUnanswered: boolean): Promise<void> {
  await sql.run({
    name: 'set_unanswered_upload',
    text: `
      update upload_requests
      set is_unanswered = $3
      where shard = $1 and job_id = $2`,
    values: [shard, id, isUnanswered],
  });
}

/** Deletes at most `limit` uploads of a shard that are not joined any more. Returns how many. */
export async function deleteExpiredUploadRequests(
  sql: Sql,
  { shard, limit }: { shard: number; limit: number },
): Promise<number> {
  return await sql.run({
    name: 'delete_expired_upload_requests',
    text: `
      delete from upload_requests
      where shard = $1 and job_id = any(array(
        select job_id
        from upload_requests
        where shard = $1 and expires_at <= statement_timestamp()
        order by expires_at
        limit $2
      ))`,
    values: [shard, limit],
  });
}

/** The part of a statement that deletes the uploads of jobs. @param ids  SQL of the list of ids; `$1` is the shard */
export const deleteUploadRequestsOf = (ids: string): string => `
      delete from upload_requests
      where shard = $1 and job_id = any(${ids})`;
