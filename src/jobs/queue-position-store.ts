import type { Sql } from '../db/sql.ts';

/** How much an account has waiting, and when it had its last turn; null for never. */
export type AccountQueue = { accountId: string; waiting: number; lastStartedAt: Date | null };

/** Every account with queued jobs. Every lane: a place in the queue is a place among all. */
export async function measureQueues(sql: Sql): Promise<AccountQueue[]> {
  return await sql.rows<AccountQueue>({
    name: 'measure_queues',
    text: `
      -- every lane: accounts of all lanes take turns
      select waiting.account_id as "accountId", waiting.count as waiting, job_turns.last_started_at as "lastStartedAt"
      from (
        select lane, account_id, count(*) as count
        from jobs
        where state in ('queued', 'processing') and state = 'queued'
        group by lane, account_id
      ) as waiting
      left join job_turns on job_turns.lane = waiting.lane and job_turns.account_id = waiting.account_id`,
  });
}

/** The job's place among its account's queued jobs, 1 for the first; null when it is not queued. */
export async function findRankInAccount(
  sql: Sql,
  { lane, accountId, id }: { lane: number; accountId: string; id: string },
): Promise<number | null> {
  const rows = await sql.rows<{ rank: number | null }>({
    name: 'find_rank_in_account',
    text: `
      select (
        select count(*)
        from jobs
        where jobs.lane = $1 and jobs.account_id = $2 and jobs.state in ('queued', 'processing')
          and jobs.state = 'queued' and jobs.next_at <= own.next_at and (jobs.next_at, jobs.id) <= (own.next_at, own.id)
      ) as rank
      from jobs as own
      where own.lane = $1 and own.id = $3 and own.state = 'queued'`,
    values: [lane, accountId, id],
  });
  return rows[0]?.rank ?? null;
}
