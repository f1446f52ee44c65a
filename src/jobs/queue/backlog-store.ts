import type { Sql } from '../../db/database.ts';

/** Work whose time has come and that nobody has begun. */
export type Backlog = { due: number; oldestDueSeconds: number };

/** Jobs that wait for a transcriber now. Every shard: asked when metrics are read, never by the worker. */
export async function measureJobBacklog(sql: Sql, now: Date | null = null): Promise<Backlog> {
  const rows = await sql.rows<Backlog>({
    name: 'measure_job_backlog',
    text: `
      -- every shard: a figure for the operator
      select count(*) as due,
        coalesce(extract(epoch from coalesce($1::timestamptz, clock_timestamp()) - min(created_at)), 0)::float8 as "oldestDueSeconds"
      from jobs
      where state = 'queued'`,
    values: [now],
  });
  return rows[0]!;
}
