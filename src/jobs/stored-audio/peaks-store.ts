import type { Sql } from '../../db/database.ts';

/** A completed job's peaks, as `PeakCollector.bytes` gives them; null when it has none. */
export async function findPeaks(sql: Sql, { shard, id }: { shard: number; id: string }): Promise<Buffer | null> {
  const [row] = await sql.rows<{ peaks: Buffer | null }>({
    name: 'find_job_peaks',
    isBrief: true,
    text: 'select peaks from jobs where shard = $1 and id = $2',
    values: [shard, id],
  });
  return row?.peaks ?? null;
}
