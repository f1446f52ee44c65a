import type { Sql } from '../../db/database.ts';
import { deleteUploadRequestsOf } from '../repeats/repeat-store.ts';
import { deleteChunksOf } from '../search/chunk-store.ts';
import { deletePairsOf } from '../search/metadata-store.ts';
import { deleteSharesOf } from '../sharing/share-store.ts';

type AccountKey = { shard: number; id: string };

/** At most `limit` jobs of an account, in whichever state. */
export async function findJobsOfAccount(
  sql: Sql,
  { shard, id }: AccountKey,
  limit: number,
): Promise<{ id: string; audioKey: string | null }[]> {
  return await sql.rows({
    text: `
      select id, audio_key as "audioKey"
      from jobs
      where shard = $1 and account_id = $2
      order by id desc
      limit $3`,
    values: [shard, id, limit],
  });
}

/**
 * Deletes jobs in whichever state, with all that belongs to them, in one statement. The lease of one that runs is lost:
 * its worker stops, and stores nothing.
 */
export async function deleteJobs(sql: Sql, shard: number, ids: string[]): Promise<void> {
  await sql.run({
    text: `
      with deleted as (
        delete from jobs
        where shard = $1 and id = any($2::text[])
      ), deleted_pieces as (
        delete from job_pieces
        where shard = $1 and job_id = any($2::text[])
      ), deleted_fetches as (
        delete from audio_fetches
        where shard = $1 and job_id = any($2::text[])
      ), deleted_chunks as (${deleteChunksOf('$2::text[]')}
      ), deleted_pairs as (${deletePairsOf('$2::text[]')}
      ), deleted_shares as (${deleteSharesOf('$2::text[]')}
      ), deleted_requests as (${deleteUploadRequestsOf('$2::text[]')}
      )
      select`,
    values: [shard, ids],
  });
}

/** Deletes the count of an account's waiting jobs. Returns how many there were: one, or none. */
export async function deleteQueueOf(sql: Sql, { shard, id }: AccountKey): Promise<number> {
  return await sql.run({
    text: 'delete from job_queues where shard = $1 and account_id = $2',
    values: [shard, id],
  });
}
