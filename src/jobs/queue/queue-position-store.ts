import type { Sql } from '../../db/database.ts';

/** The number of an account's waiting jobs, and when it last started one; null for never. */
export type AccountQueue = { accountId: string; waiting: number; lastStartedAt: Date | null };

/** The accounts of all shards with queued jobs that were never started. */
export async function measureQueues(sql: Sql): Promise<AccountQueue[]> {
  return await sql.rows<AccountQueue>({
    name: 'measure_queues',
    text: `
      -- every shard: accounts of all shards take turns
      select account_id as "accountId", waiting, last_started_at as "lastStartedAt"
      from job_queues
      where waiting > 0`,
  });
}

/** `returned`: the job was started before and starts before all others; `rank` is its position among such jobs. */
export type Rank = { kind: 'returned'; rank: number } | { kind: 'waiting'; rank: number; returnedJobs: number };

/**
 * The job's position among its account's waiting jobs, 1 for the first, and the number of returned jobs that start
 * before it; null when it is not queued, or its audio is still being fetched.
 */
export async function findRank(
  sql: Sql,
  { shard, accountId, id }: { shard: number; accountId: string; id: string },
): Promise<Rank | null> {
  const rows = await sql.rows<{ isReturned: boolean; createdAt: string; rank: number }>({
    name: 'find_job_rank',
    text: `
      select own.lease > 0 as "isReturned", own.created_at::text as "createdAt", (
        select count(*)
        from jobs
        where jobs.shard = $1 and jobs.account_id = $2 and jobs.state = 'queued' and jobs.lease = 0
          and jobs.audio_key is not null
          and (jobs.created_at, jobs.id) <= (own.created_at, own.id)
      ) as rank
      from jobs as own
      where own.shard = $1 and own.id = $3 and own.state = 'queued' and own.audio_key is not null`,
    values: [shard, accountId, id],
  });
  const [own] = rows;
  if (!own) return null;
  const returnedJobs = await countReturned(sql, own.isReturned ? { id, createdAt: own.createdAt } : null);
  return own.isReturned ? { kind: 'returned', rank: returnedJobs } : { kind: 'waiting', rank: own.rank, returnedJobs };
}

/** The number of returned jobs up to and including one of them; of all when it is null. */
async function countReturned(sql: Sql, upTo: { id: string; createdAt: string } | null): Promise<number> {
  const [row] = await sql.rows<{ count: number }>({
    name: 'count_returned_jobs',
    text: `
      -- every shard: returned jobs of all shards start first
      select count(*) as count
      from jobs
      where state = 'queued' and lease > 0 and ($2::text is null or (created_at, id) <= ($1::timestamptz, $2))`,
    values: [upTo?.createdAt ?? null, upTo?.id ?? null],
  });
  return row!.count;
}
