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

/** Stores that the audio of these jobs was erased. */
export async function clearAudioKeys(sql: Sql, jobs: { shard: number; id: string }[]): Promise<void> {
  // In one order, so that two such statements do not wait for each other.
  const sorted = jobs.toSorted((one, other) => one.shard - other.shard || (one.id < other.id ? -1 : 1));
  await sql.run({
    name: 'clear_audio_keys',
    text: `
      update jobs
      set audio_key = null
      from unnest($1::smallint[], $2::text[]) as erased (shard, id)
      where jobs.shard = any($1::smallint[]) and jobs.shard = erased.shard and jobs.id = erased.id
        and jobs.completed_at is not null`,
    values: [sorted.map(({ shard }) => shard), sorted.map(({ id }) => id)],
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
