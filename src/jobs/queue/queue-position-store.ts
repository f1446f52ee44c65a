import type { Sql } from '../../db/database.ts';

/** How much an account has waiting, and when it had its last turn; null for never. */
export type AccountQueue = { accountId: string; waiting: number; lastStartedAt: Date | null };

/** Every account with queued jobs that were not started before. Every lane: a place in the queue is a place among all. */
export async function measureQueues(sql: Sql): Promise<AccountQueue[]> {
  return await sql.rows<AccountQueue>({
    name: 'measure_queues',
    text: `
      -- every lane: accounts of all lanes take turns
      select waiting.account_id as "accountId", waiting.count as waiting, job_turns.last_started_at as "lastStartedAt"
      from (
        select lane, account_id, count(*) as count
        from jobs
        where state = 'queued' and lease = 0
        group by lane, account_id
      ) as waiting
      left join job_turns on job_turns.lane = waiting.lane and job_turns.account_id = waiting.account_id`,
  });
}

/** `returned`: a job that was started before, which starts before all others; `rank` is its place among those. */
export type Rank = { kind: 'returned'; rank: number } | { kind: 'waiting'; rank: number; returnedJobs: number };

/**
 * The job's place among its account's queued jobs, 1 for the first, and how many returned jobs start before; null when it
 * is not queued.
 */
export async function findRank(
  sql: Sql,
  { lane, accountId, id }: { lane: number; accountId: string; id: string },
): Promise<Rank | null> {
  const rows = await sql.rows<{ isReturned: boolean; rank: number; returnedJobs: number }>({
    name: 'find_job_rank',
    text: `
      select own.lease > 0 as "isReturned", (
        select count(*)
        from jobs
        -- every lane: jobs of all lanes may have come back to the queue
        where state = 'queued' and lease > 0 and (own.lease = 0 or (jobs.created_at, jobs.id) <= (own.created_at, own.id))
      ) as "returnedJobs", (
        select count(*)
        from jobs
        where jobs.lane = $1 and jobs.account_id = $2 and jobs.state = 'queued' and jobs.lease = 0
          and (jobs.created_at, jobs.id) <= (own.created_at, own.id)
      ) as rank
      from jobs as own
      where own.lane = $1 and own.id = $3 and own.state = 'queued'`,
    values: [lane, accountId, id],
  });
  const [row] = rows;
  if (!row) return null;
  const { isReturned, rank, returnedJobs } = row;
  return isReturned ? { kind: 'returned', rank: returnedJobs } : { kind: 'waiting', rank, returnedJobs };
}
