import type { Sql } from '../../db/database.ts';

/** Ended jobs whose audio is still kept although its time, `retentionMs` after the end, is over. */
export async function findJobsToErase(
  sql: Sql,
  { retentionMs, limit, now }: { retentionMs: number; limit: number; now: Date | null },
): Promise<{ shard: number; id: string; audioKey: string }[]> {
  return await sql.rows({
    text: `
      select shard, id, audio_key as "audioKey"
      from jobs
      where audio_key is not null
        and completed_at <= coalesce($1::timestamptz, clock_timestamp()) - $2 * interval '1 millisecond'
      limit $3`,
    values: [now, retentionMs, limit],
  });
}

/** Notes that a job's audio is erased. */
export async function forgetAudio(sql: Sql, { shard, id }: { shard: number; id: string }): Promise<void> {
  await sql.run({
    name: 'forget_audio',
    text: `
      update jobs
      set audio_key = null
      where shard = $1 and id = $2 and completed_at is not null`,
    values: [shard, id],
  });
}

/** Those of the keys that some job still names. */
export async function findKeysInUse(sql: Sql, keys: string[]): Promise<string[]> {
  const rows = await sql.rows<{ audioKey: string }>({
    text: `
      -- every shard: a file's name does not tell whose it is
      select audio_key as "audioKey"
      from jobs
      where audio_key is not null and audio_key = any($1)`,
    values: [keys],
  });
  return rows.map((row) => row.audioKey);
}
