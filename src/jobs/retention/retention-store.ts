import type { Sql } from '../../db/database.ts';

export type OldJobs = { shard: number; keepDays: number; limit: number; now?: Date | null };

/**
 * Deletes jobs that ended `keepDays` ago or earlier, with all that is kept of them, at most `limit`, oldest first;
 * returns how many. A job whose audio is still kept stays until the audio is erased, so that no file is forgotten.
 */
export async function deleteOldJobs(sql: Sql, { shard, keepDays, limit, now = null }: OldJobs): Promise<number> {
  const [row] = await sql.rows<{ jobs: number }>({
    name: 'delete-old-jobs',
    text: `with gone as (
        delete from jobs
        where shard = $1 and completed_at is not null and id = any(array(
          select j.id
          from jobs j
          where j.shard = $1 and j.audio_key is null
            and j.completed_at <= coalesce($2::timestamptz, clock_timestamp()) - $3::float8 * interval '24 hours'
          order by j.completed_at
          limit $4
        ))
        returning id
      ),
      gone_pieces as (
        delete from job_pieces
        where shard = $1 and job_id = any(array(select id from gone))
      )
      select count(*) as jobs
      from gone`,
    values: [shard, now, keepDays, limit],
  });
  return row!.jobs;
}
