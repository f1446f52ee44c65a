import type { Sql } from '../../db/database.ts';

/** An account whose count in job_queues is not the number of its waiting jobs. */
export type WrongCount = { accountId: string; counted: number; waiting: number };

/** The wrong counts of a shard, all read at one instant. */
export async function findWrongCounts(sql: Sql, shard: number): Promise<WrongCount[]> {
  return await sql.rows<WrongCount>({
    text: `
      select coalesce(queue.account_id, jobs.account_id) as "accountId", coalesce(queue.waiting, 0) as counted,
        coalesce(jobs.waiting, 0) as waiting
      from (
        select account_id, waiting
        from job_queues
        where shard = $1 and waiting > 0
      ) as queue
      full join (
        select account_id, count(*) as waiting
        from jobs
        where shard = $1 and state = 'queued' and lease = 0 and audio_key is not null
        group by account_id
      ) as jobs on jobs.account_id = queue.account_id
      where coalesce(queue.waiting, 0) <> coalesce(jobs.waiting, 0)`,
    values: [shard],
  });
}

/**
 * Locks an account's count, which is inserted if it is missing: no job of the account is queued, started or canceled.
 */
export async function lockCount(tx: Sql, { shard, accountId }: { shard: number; accountId: string }): Promise<void> {
  await tx.run({
    text: `
      insert into job_queues as queue (shard, account_id, waiting)
      values ($1, $2, 0)
      on conflict (shard, account_id) do update
      set waiting = queue.waiting`,
    values: [shard, accountId],
  });
}

/** Counts again. @param tx  the transaction that locked the count */
export async function correctCount(tx: Sql, { shard, accountId }: { shard: number; accountId: string }): Promise<void> {
  await tx.run({
    text: `
      update job_queues
      set waiting = (
        select count(*)
        from jobs
        where jobs.shard = $1 and jobs.account_id = $2 and jobs.state = 'queued' and jobs.lease = 0
          and jobs.audio_key is not null
      )
      where shard = $1 and account_id = $2`,
    values: [shard, accountId],
  });
}
