import type { Sql } from '../../db/database.ts';
import { deleteChunksOf } from '../search/chunk-store.ts';

export type OldJobs = { shard: number; keepDays: number; limit: number; now?: Date | null };

/**
 * Deletes at most `limit` jobs of a shard that ended `keepDays` ago or earlier, oldest first, with their pieces; returns
 * their number. A job whose audio is still stored is kept until the audio is erased, so that no file is left behind.
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
      )
      select count(*) as jobs
      from deleted`,
    values: [shard, now, keepDays, limit],
  });
  return row!.jobs;
}
