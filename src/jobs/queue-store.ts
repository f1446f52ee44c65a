import type { Sql } from '../db/sql.ts';
import { LANE_COUNT } from '../rules/lane.ts';
import type { ClaimedJob, Job, JobErrorType } from './job.ts';
import { JOB_COLUMNS } from './store.ts';

/** What proves that this process holds a job: the number that its claim gave to the lease. */
export type Claim = Pick<Job, 'lane' | 'id' | 'lease'>;

type Now = Date | null;

/**
 * The accounts of a lane that have a job due, the one that waited longest for its turn first. Looks at one index entry per
 * account with open jobs, however many jobs it has.
 */
export async function findAccountsInTurn(
  sql: Sql,
  { lane, now, limit }: { lane: number; now: Now; limit: number },
): Promise<{ accountId: string; lastStartedAt: Date | null }[]> {
  return await sql.rows({
    name: 'find_accounts_in_turn',
    text: `
      with recursive waiting as (
        (
          select account_id, next_at
          from jobs
          where lane = $1 and state in ('queued', 'processing')
          order by account_id, next_at
          limit 1
        )
        union all
        select next_account.account_id, next_account.next_at
        from waiting
        cross join lateral (
          select jobs.account_id, jobs.next_at
          from jobs
          where lane = $1 and state in ('queued', 'processing') and jobs.account_id > waiting.account_id
          order by jobs.account_id, jobs.next_at
          limit 1
        ) as next_account
      )
      select waiting.account_id as "accountId", job_turns.last_started_at as "lastStartedAt"
      from waiting
      left join job_turns on job_turns.lane = $1 and job_turns.account_id = waiting.account_id
      where waiting.next_at <= coalesce($2::timestamptz, clock_timestamp())
      order by job_turns.last_started_at nulls first
      limit $3`,
    values: [lane, now, limit],
  });
}

/** Lanes with a job due. */
export async function lanesWithDueJobs(sql: Sql, now: Now): Promise<number[]> {
  const rows = await sql.rows<{ lane: number }>({
    name: 'lanes_with_due_jobs',
    text: `
      select lanes.lane
      from generate_series(0, $1::int - 1) as lanes (lane)
      where exists (
        select 1
        from jobs
        where jobs.lane = lanes.lane and state in ('queued', 'processing')
          and next_at <= coalesce($2::timestamptz, clock_timestamp())
      )`,
    values: [LANE_COUNT, now],
  });
  return rows.map((row) => row.lane);
}

/**
 * Takes an account's longest waiting job, queued or with a lease that ended, and notes its turn. Null when others were
 * faster. Until `leaseMs` from now nobody else can take it.
 */
export async function claimDueJob(
  sql: Sql,
  { lane, accountId, leaseMs, now }: { lane: number; accountId: string; leaseMs: number; now: Now },
): Promise<ClaimedJob | null> {
  const rows = await sql.rows<ClaimedJob>({
    name: 'claim_due_job',
    text: `
      with clock as (
        select coalesce($4::timestamptz, clock_timestamp()) as moment
      ), due as (
        select id
        from jobs
        where lane = $1 and account_id = $2 and state in ('queued', 'processing')
          and next_at <= (select moment from clock)
        order by next_at
        limit 1
        for update skip locked
      ), claimed as (
        update jobs
        set state = 'processing', attempts = attempts + 1, lease = lease + 1,
          next_at = (select moment from clock) + $3 * interval '1 millisecond',
          started_at = coalesce(started_at, (select moment from clock))
        from due
        where jobs.lane = $1 and jobs.id = due.id
        returning ${JOB_COLUMNS}
      ), turn as (
        insert into job_turns (lane, account_id, last_started_at)
        select $1, $2, moment
        from clock
        where exists (select 1 from claimed)
        on conflict (lane, account_id) do update
        set last_started_at = excluded.last_started_at
      )
      select claimed.*, accounts.unlimited, pg_notify('job_changed', claimed.id)
      from claimed
      join accounts on accounts.lane = $1 and accounts.id = $2`,
    values: [lane, accountId, leaseMs, now],
  });
  return rows[0] ?? null;
}

/** Moves the lease's end to `leaseMs` from now and shows the progress. False when the lease was lost. */
export async function renewLease(
  sql: Sql,
  claim: Claim,
  { leaseMs, progress, now }: { leaseMs: number; progress: number; now: Now },
): Promise<boolean> {
  const changed = await sql.run({
    name: 'renew_job_lease',
    text: `
      update jobs
      set next_at = coalesce($4::timestamptz, clock_timestamp()) + $5 * interval '1 millisecond', progress = $6
      where lane = $1 and id = $2 and lease = $3 and state = 'processing'`,
    values: [claim.lane, claim.id, claim.lease, now, leaseMs, progress],
  });
  return changed === 1;
}

/** Gives a job back as if it had never been claimed: at once due for anybody. False when the lease was lost. */
export async function handBackJob(sql: Sql, claim: Claim, now: Now): Promise<boolean> {
  const changed = await sql.rows({
    name: 'hand_back_job',
    text: `
      update jobs
      set state = 'queued', attempts = attempts - 1, progress = 0, started_at = null,
        next_at = coalesce($4::timestamptz, clock_timestamp())
      where lane = $1 and id = $2 and lease = $3 and state = 'processing'
      returning pg_notify('jobs_due', ''), pg_notify('job_changed', id)`,
    values: [claim.lane, claim.id, claim.lease, now],
  });
  return changed.length === 1;
}

/** Locks a job that is still held under this claim, for the rest of the transaction. False when the lease was lost. */
export async function lockClaimedJob(tx: Sql, claim: Claim): Promise<boolean> {
  const rows = await tx.rows({
    name: 'lock_claimed_job',
    text: `
      select id
      from jobs
      where lane = $1 and id = $2 and lease = $3 and state = 'processing'
      for update`,
    values: [claim.lane, claim.id, claim.lease],
  });
  return rows.length === 1;
}

export type Ending = {
  state: 'completed' | 'failed';
  model: string | null;
  detectedLanguage: string | null;
  transcript: string | null;
  segments: string | null;
  /** Null to keep what the probe showed. */
  durationMs: number | null;
  costUnits: number;
  errorType: JobErrorType | null;
  errorMessage: string | null;
};

/** Writes a job's end and tells who waits for it. Null when the lease was lost: nothing was changed. */
export async function endClaimedJob(tx: Sql, claim: Claim, ending: Ending, now: Now): Promise<Job | null> {
  const rows = await tx.rows<Job>({
    name: 'end_claimed_job',
    text: `
      with ended as (
        update jobs
        set state = $4, model = $5, detected_language = $6, transcript = $7, segments = $8,
          duration_ms = coalesce($9, duration_ms), cost_units = $10, error_type = $11, error_message = $12,
          progress = case when $4 = 'completed' then 1 else progress end,
          next_at = null, completed_at = coalesce($13::timestamptz, clock_timestamp())
        where lane = $1 and id = $2 and lease = $3 and state = 'processing'
        returning ${JOB_COLUMNS}, pg_notify('job_ended', id), pg_notify('job_changed', id)
      ), swept as (
        delete from job_pieces
        where lane = $1 and job_id = $2 and exists (select 1 from ended)
      )
      select ended.*
      from ended`,
    values: [
      ...[claim.lane, claim.id, claim.lease, ending.state, ending.model, ending.detectedLanguage, ending.transcript],
      ...[ending.segments, ending.durationMs, ending.costUnits, ending.errorType, ending.errorMessage, now],
    ],
  });
  return rows[0] ?? null;
}
