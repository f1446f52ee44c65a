import type { Sql } from '../../db/database.ts';
import type { Plan } from '../../rules/accounts/plan.ts';
import type { Waiting } from '../../rules/jobs/next-jobs.ts';
import { type ClaimedJob, type Job, NO_RESULT } from '../job.ts';
import { notifyChanged } from '../notify.ts';
import { type JobKey, OPEN_JOB_COLUMNS } from '../store.ts';
import type { Claim, Holder } from './lease-store.ts';
import { moveSql } from './moves.ts';

/** The greatest `limit` of `readQueueHead`. */
export const MAX_HEAD = 64;

/** What may be claimed, and the database's time at which it was read. */
export type QueueHead = Waiting<JobKey> & { moment: Date };

type HeadRow = { class: 'returned' | 'waiting'; shard: number; accountId: string; ids: string[]; moment: Date };

/**
 * The returned jobs, oldest first, and the accounts with waiting jobs in turn, each with its oldest jobs; null when no
 * job is queued. Reads at most `limit` returned jobs, accounts, and jobs of each account, however many there are.
 * @param plans  whose jobs are read; null: all
 */
export async function readQueueHead(
  sql: Sql,
  limit: number,
  plans: readonly Plan[] | null = null,
): Promise<QueueHead | null> {
  const rows = await sql.rows<HeadRow>({
    name: 'read_queue_head',
    isBrief: true,
    text: `
      -- every shard: accounts of all shards take turns
      with returned as (
        select shard, account_id, array[id] as ids, created_at as since
        from jobs
        where state = 'queued' and lease > 0 and ($2::text[] is null or plan = any($2))
        order by created_at, id
        limit $1
      ), waiting as (
        select shard, account_id, array(
            select id
            from jobs
            where jobs.shard = queue.shard and jobs.account_id = queue.account_id and state = 'queued' and lease = 0
              and audio_key is not null and ($2::text[] is null or plan = any($2))
            order by created_at, id
            limit $1
          ) as ids, last_started_at as since
        from job_queues as queue
        where waiting > 0 and ($2::text[] is null or exists (
          select from jobs
          where jobs.shard = queue.shard and jobs.account_id = queue.account_id and state = 'queued' and lease = 0
            and audio_key is not null and plan = any($2)
        ))
        order by last_started_at nulls first, shard, account_id
        limit $1
      ), head as (
        select 'returned' as class, shard, account_id, ids, since from returned
        union all
        select 'waiting', shard, account_id, ids, since from waiting
      )
      select class, shard, account_id as "accountId", ids, clock_timestamp() as moment
      from head
      order by class, since nulls first, shard, account_id, ids`,
    values: [limit, plans],
  });
  if (rows.length === 0) return null;
  const queues = rows.map((row) => ({ ...row, jobs: row.ids.map((id) => ({ shard: row.shard, id })) }));
  return {
    moment: rows[0]!.moment,
    returned: queues.filter((row) => row.class === 'returned'),
    queues: queues.filter((row) => row.class === 'waiting'),
  };
}

const START = moveSql('start');

export type JobsClaim = {
  jobs: JobKey[];
  holder: Holder;
  leaseMs: number;
  /** When the jobs were read, and for how long this is valid: a claim that runs later claims nothing. */
  moment: Date;
  validMs: number;
};

/**
 * Claims those of the jobs that are still queued, for `leaseMs`, and stores the time as their accounts' last start.
 * Jobs that another worker claims at this moment are left to it.
 */
export async function claimJobs(
  sql: Sql,
  { jobs, holder, leaseMs, moment, validMs }: JobsClaim,
): Promise<ClaimedJob[]> {
  const claimed = await sql.rows<Omit<ClaimedJob, keyof typeof NO_RESULT>>({
    name: 'claim_jobs',
    text: `
      with clock as (
        select clock_timestamp() as moment, clock_timestamp() + $4 * interval '1 millisecond' as lease_ends_at
      ), claimed as (
        update jobs
        set ${START.to}, attempts = attempts + 1, lease = lease + 1, holder = $3,
          next_at = (select lease_ends_at from clock), started_at = (select moment from clock)
        where shard = any($1::smallint[]) and id = any($2::text[]) and ${START.from}
          and (select moment from clock) <= $5::timestamptz + $6 * interval '1 millisecond'
        returning ${OPEN_JOB_COLUMNS}
      ), started as (
        select shard, "accountId" as account_id, count(*) filter (where lease = 1) as jobs, max("startedAt") as moment
        from claimed
        group by shard, "accountId"
      ), counted as (
        update job_queues
        set waiting = waiting - started.jobs, last_started_at = started.moment
        from started
        where job_queues.shard = any($1::smallint[]) and job_queues.shard = started.shard
          and job_queues.account_id = started.account_id
      )
      select * from claimed`,
    values: [jobs.map(({ shard }) => shard), jobs.map(({ id }) => id), holder, leaseMs, moment, validMs],
  });
  for (const { id } of claimed) notifyChanged(sql, id);
  return claimed.map((job) => ({ ...NO_RESULT, ...job }));
}

/** Locks a job that is held under this claim, for the rest of the transaction. Null when the lease was lost. */
export async function lockClaimedJob(
  tx: Sql,
  claim: Claim,
): Promise<Pick<Job, 'heldUnits' | 'transcribedUnits'> | null> {
  const rows = await tx.rows<Pick<Job, 'heldUnits' | 'transcribedUnits'>>({
    name: 'lock_claimed_job',
    text: `
      select held_units as "heldUnits", transcribed_units as "transcribedUnits"
      from jobs
      where shard = $1 and id = $2 and lease = $3 and state = 'processing'
      for update`,
    values: [claim.shard, claim.id, claim.lease],
  });
  return rows[0] ?? null;
}

/** Sets the hold of a locked job. Call it in the transaction that changes the balance. */
export async function setHeldUnits(tx: Sql, { shard, id }: Claim, heldUnits: number): Promise<void> {
  await tx.run({
    name: 'set_job_hold',
    text: `
      update jobs
      set held_units = $3
      where shard = $1 and id = $2`,
    values: [shard, id, heldUnits],
  });
}
