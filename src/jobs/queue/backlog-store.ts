import type { Sql } from '../../db/database.ts';

/** The number of due jobs that no process has started, and the age of the oldest. */
export type Backlog = { due: number; oldestDueSeconds: number };

/** The queued jobs of all shards whose audio is stored. For metrics only, never for the worker. */
export async function measureJobBacklog(sql: Sql, now: Date | null = null): Promise<Backlog> {
  const rows = await sql.rows<Backlog>({
    name: 'measure_job_backlog',
    text: `
      -- every shard: a figure for the operator
      select count(*) as due,
        coalesce(extract(epoch from coalesce($1::timestamptz, clock_timestamp()) - min(created_at)), 0)::float8 as "oldestDueSeconds"
      from jobs
      where state = 'queued' and audio_key is not null`,
    values: [now],
  });
  return rows[0]!;
}

/** The number of waiting jobs of all accounts: queued jobs that were never started. */
export async function countWaitingJobs(sql: Sql): Promise<number> {
  const rows = await sql.rows<{ count: number }>({
    name: 'count_waiting_jobs',
    text: `
      -- every shard: the bound holds for the whole service
      select coalesce(sum(waiting), 0) as count
      from job_queues
      where waiting > 0`,
  });
  return rows[0]!.count;
}

/** The number of fetches of all accounts, waiting and under way. */
export async function countFetches(sql: Sql): Promise<number> {
  const [row] = await sql.rows<{ count: number }>({
    name: 'count_fetches',
    text: `
      -- every shard: the bound holds for the whole service
      select count(*) as count
      from audio_fetches`,
  });
  return row!.count;
}
