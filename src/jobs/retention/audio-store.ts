import type { Sql } from '../../db/database.ts';

/** Jobs that ended `retentionMs` ago or earlier and whose audio is still stored. */
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

/** Stores that a job's audio was erased. */
export async function clearAudioKey(sql: Sql, { shard, id }: { shard: number; id: string }): Promise<void> {
  await sql.run({
    name: 'clear_audio_key',
    text: `
      update jobs
      set audio_key = null
      where shard = $1 and id = $2 and completed_at is not null`,
    values: [shard, id],
  });
}

/** Those of the keys that belong to a job. */
export async function findKeysInUse(sql: Sql, keys: string[]): Promise<string[]> {
  const rows = await sql.rows<{ audioKey: string }>({
    text: `
      -- every shard: a file's name does not contain its account
      select audio_key as "audioKey"
      from jobs
      where audio_key is not null and audio_key = any($1)`,
    values: [keys],
  });
  return rows.map((row) => row.audioKey);
}
