import type { Sql } from '../../db/database.ts';
import type { ClaimedJob, Job, JobErrorType } from '../job.ts';
import { JOB_COLUMNS } from '../store.ts';
import type { Claim, Holder } from './lease-store.ts';

type Now = Date | null;

/** A job that was started before and returned to the queue, or (`jobId` null) an account with queued jobs. */
export type Candidate = { shard: number; jobId: string | null; accountId: string };

/**
 * The candidates for the next claim, in order: jobs that returned to the queue, oldest first; then accounts with queued
 * jobs, the one that least recently started a job first. Reads one index entry per account, however many jobs it has.
 */
export async function findCandidates(sql: Sql, limit: number): Promise<{ moment: Date; candidates: Candidate[] }> {
  const [row] = await sql.rows<{ moment: Date; candidates: Candidate[] | null }>({
    name: 'find_job_candidates',
    text: `
      -- every shard: accounts of all shards take turns
      with recursive waiting as (
        (
          select shard, account_id
          from jobs
          where state = 'queued'
          order by shard, account_id
          limit 1
        )
        union all
        select next_account.shard, next_account.account_id
        from waiting
        cross join lateral (
          select jobs.shard, jobs.account_id
          from jobs
          where state = 'queued' and (jobs.shard, jobs.account_id) > (waiting.shard, waiting.account_id)
          order by jobs.shard, jobs.account_id
          limit 1
        ) as next_account
      ), returned as (
        select shard, id, account_id, row_number() over (order by created_at, id) as position
        from jobs
        where state = 'queued' and lease > 0
        order by created_at, id
        limit $1
      ), in_turn as (
        select waiting.shard, waiting.account_id,
          row_number() over (order by job_turns.last_started_at nulls first) as position
        from waiting
        left join job_turns on job_turns.shard = waiting.shard and job_turns.account_id = waiting.account_id
        order by position
        limit $1
      ), candidates as (
        select 1 as class, position, shard, id as job_id, account_id from returned
        union all
        select 2, position, shard, null, account_id from in_turn
      )
      select clock_timestamp() as moment, (
        select json_agg(json_build_object('shard', shard, 'jobId', job_id, 'accountId', account_id) order by class, position)
        from candidates
      ) as candidates`,
    values: [limit],
  });
  return { moment: row!.moment, candidates: row!.candidates ?? [] };
}

export type JobClaim = Candidate & {
  holder: Holder;
  leaseMs: number;
  /** When the candidate was read, and for how long it is valid: a claim that runs later finds nothing. */
  moment: Date;
  validMs: number;
};

/**
 * Claims the candidate, the job itself or the account's oldest queued job, for `leaseMs`, and stores the time as the
 * account's last start. Null when other workers have claimed it.
 */
export async function claimQueuedJob(sql: Sql, claim: JobClaim): Promise<ClaimedJob | null> {
  const { shard, jobId, accountId, holder, leaseMs, moment, validMs } = claim;
  const rows = await sql.rows<ClaimedJob>({
    name: jobId === null ? 'claim_job_of_account' : 'claim_returned_job',
    text: `
      with clock as (
        select clock_timestamp() as moment
      ), due as (
        select id
        from jobs
        where shard = $1 and account_id = $2 and state = 'queued' ${jobId === null ? '' : 'and id = $7'}
          and next_at <= (select moment from clock)
          and (select moment from clock) <= $5::timestamptz + $6 * interval '1 millisecond'
        order by created_at, id
        limit 1
        for update skip locked
      ), claimed as (
        update jobs
        set state = 'processing', attempts = attempts + 1, lease = lease + 1, holder = $4,
          next_at = (select moment from clock) + $3 * interval '1 millisecond',
          started_at = (select moment from clock)
        from due
        where jobs.shard = $1 and jobs.id = due.id
        returning ${JOB_COLUMNS}
      ), turn as (
        insert into job_turns (shard, account_id, last_started_at)
        select $1, $2, moment
        from clock
        where exists (select 1 from claimed)
        on conflict (shard, account_id) do update
        set last_started_at = excluded.last_started_at
      )
      select claimed.*, accounts.unlimited, pg_notify('job_changed', claimed.id)
      from claimed
      join accounts on accounts.shard = $1 and accounts.id = $2`,
    values: [shard, accountId, leaseMs, holder, moment, validMs, ...(jobId === null ? [] : [jobId])],
  });
  return rows[0] ?? null;
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

export type JobResult = {
  state: 'completed' | 'failed';
  model: string | null;
  detectedLanguage: string | null;
  transcript: string | null;
  segments: string | null;
  /** Null to keep the length that the probe found. */
  durationMs: number | null;
  costUnits: number;
  errorType: JobErrorType | null;
  errorMessage: string | null;
};

/** Writes a job's end and notifies everything that waits for it. Returns null and changes nothing when the lease was lost. */
export async function endClaimedJob(tx: Sql, claim: Claim, result: JobResult, now: Now): Promise<Job | null> {
  const rows = await tx.rows<Job>({
    name: 'end_claimed_job',
    text: `
      with ended as (
        update jobs
        set state = $4, model = $5, detected_language = $6, transcript = $7, segments = $8,
          duration_ms = coalesce($9, duration_ms), cost_units = $10, error_type = $11, error_message = $12,
          progress = case when $4 = 'completed' then 1 else progress end,
          next_at = null, completed_at = coalesce($13::timestamptz, clock_timestamp())
        where shard = $1 and id = $2 and lease = $3 and state = 'processing'
        returning ${JOB_COLUMNS}, pg_notify('job_ended', id), pg_notify('job_changed', id)
      ), swept as (
        delete from job_pieces
        where shard = $1 and job_id = $2 and exists (select 1 from ended)
      )
      select ended.*
      from ended`,
    values: [
      claim.shard,
      claim.id,
      claim.lease,
      result.state,
      result.model,
      result.detectedLanguage,
      result.transcript,
      result.segments,
      result.durationMs,
      result.costUnits,
      result.errorType,
      result.errorMessage,
      now,
    ],
  });
  return rows[0] ?? null;
}
