import type { Sql } from '../../db/database.ts';

/** The number of an account's queued jobs, and when it last started one; null for never. */
export type AccountQueue = { accountId: string; waiting: number; lastStartedAt: Date | null };

/** The accounts of all shards with queued jobs that were never started. */
export async function measureQueues(sql: Sql): Promise<AccountQueue[]> {
  return await sql.rows<AccountQueue>({
    name: 'measure_queues',
    text: `
      -- every shard: accounts of all shards take turns
      select waiting.account_id as "accountId", waiting.count as waiting, job_turns.last_started_at as "lastStartedAt"
      from (
        select shard, account_id, count(*) as count
        from jobs
        where state = 'queued' and lease = 0
        group by shard, account_id
      ) as waiting
      left join job_turns on job_turns.shard = waiting.shard and job_turns.account_id = waiting.account_id`,
  });
}

/** `returned`: the job was started before and starts before all others; `rank` is its position among such jobs. */
export type Rank = { kind: 'returned'; rank: number } | { kind: 'waiting'; rank: number; returnedJobs: number };

/**
 * The job's position among its account's queued jobs, 1 for the first, and the number of returned jobs that start before
 * it; null when it is not queued.
 */
export async function findRank(
  sql: Sql,
  { shard, accountId, id }: { shard: number; accountId: string; id: string },
): Promise<Rank | null> {
  const rows = await sql.rows<{ isReturned: boolean; rank: number; returnedJobs: number }>({
    name: 'find_job_rank',
    text: `
      select own.lease > 0 as "isReturned", (
        select count(*)
        from jobs
        -- every shard: returned jobs of all shards start first
        where state = 'queued' and lease > 0 and (own.lease = 0 or (jobs.created_at, jobs.id) <= (own.created_at, own.id))
      ) as "returnedJobs", (
        select count(*)
        from jobs
        where jobs.shard = $1 and jobs.account_id = $2 and jobs.state = 'queued' and jobs.lease = 0
          and (jobs.created_at, jobs.id) <= (own.created_at, own.id)
      ) as rank
      from jobs as own
      where own.shard = $1 and own.id = $3 and own.state = 'queued'`,
    values: [shard, accountId, id],
  });
  const [row] = rows;
  if (!row) return null;
  const { isReturned, rank, returnedJobs } = row;
  return isReturned ? { kind: 'returned', rank: returnedJobs } : { kind: 'waiting', rank, returnedJobs };
}
