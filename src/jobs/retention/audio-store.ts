import type { Sql } from '../../db/database.ts';

/** Jobs that ended `retentionMs` ago or earlier and whose audio is still stored, in the order of its keys. */
export async function findJobsToErase(
  sql: Sql,
  { retentionMs, after, limit }: { retentionMs: number; after: { audioKey: string } | null; limit: number },
): Promise<{ shard: number; id: string; audioKey: string }[]> {
  return await sql.rows({
    text: `
      select shard, id, audio_key as "audioKey"
      from jobs
      where audio_key is not null
        and audio_key > $1
        and completed_at <= clock_timestamp() - $2 * interval '1 millisecond'
      order by audio_key
      limit $3`,
    values: [after?.audioKey ?? '', retentionMs, limit],
  });
}

/** Stores that the audio of these jobs was erased. */
export async function clearAudioKeys(sql: Sql, jobs: { shard: number; id: string }[]): Promise<void> {
  await sql.run({
    name: 'clear_audio_keys',
    // The rows are locked in the order of the primary key: two such statements do not wait for each other. A condition
    // on completed_at would allow a plan that reads the whole shard by its index.
    text: `
      update jobs
      set audio_key = null
      where shard = any($1::smallint[]) and id = any($2::text[]) and state not in ('queued', 'processing')`,
    values: [[...new Set(jobs.map(({ shard }) => shard))], jobs.map(({ id }) => id)],
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
