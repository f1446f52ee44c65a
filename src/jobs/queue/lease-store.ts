import type { Sql } from '../../db/database.ts';
import type { Job } from '../job.ts';

/** Identifies a claim of a job by the lease's number. */
export type Claim = Pick<Job, 'shard' | 'id' | 'lease'>;

/** The process that holds a lease, as `<node>/<process>`; null if the lease is never released by name. */
export type Holder = string | null;

type Now = Date | null;

// Like a job that was never started, except for the number of attempts. created_at, which orders the queue, is unchanged.
const BACK_IN_QUEUE = `state = 'queued', progress = 0, started_at = null, holder = null`;

/**
 * Moves the ends of these leases to `leaseMs` from now and stores the jobs' progress. Returns the ids of the jobs that are
 * still held. Skips a row that is locked, because its job is being ended: it counts as held and is not renewed.
 */
export async function renewLeases(
  sql: Sql,
  claims: (Claim & { progress: number })[],
  { leaseMs, now }: { leaseMs: number; now: Now },
): Promise<string[]> {
  const rows = await sql.rows<{ id: string }>({
    name: 'renew_job_leases',
    text: `
      with claims as (
        select *
        from unnest($1::smallint[], $2::text[], $3::int[], $4::real[]) as c (shard, id, lease, progress)
      ), free as (
        select jobs.shard, jobs.id, claims.progress
        from claims
        join jobs on jobs.shard = claims.shard and jobs.id = claims.id and jobs.lease = claims.lease
        where jobs.state = 'processing'
        for update of jobs skip locked
      ), renewed as (
        update jobs
        set next_at = coalesce($6::timestamptz, clock_timestamp()) + $5 * interval '1 millisecond', progress = free.progress
        from free
        where jobs.shard = free.shard and jobs.id = free.id
      )
      select jobs.id
      from claims
      join jobs on jobs.shard = claims.shard and jobs.id = claims.id and jobs.lease = claims.lease
      where jobs.state = 'processing'`,
    values: [
      claims.map(({ shard }) => shard),
      claims.map(({ id }) => id),
      claims.map(({ lease }) => lease),
      claims.map(({ progress }) => progress),
      leaseMs,
      now,
    ],
  });
  return rows.map(({ id }) => id);
}

/** Returns a job to the queue without counting the attempt; it starts before other jobs. False when the lease was lost. */
export async function handBackJob(sql: Sql, claim: Claim, now: Now): Promise<boolean> {
  const changed = await sql.rows({
    name: 'hand_back_job',
    text: `
      update jobs
      set ${BACK_IN_QUEUE}, attempts = attempts - 1, next_at = coalesce($4::timestamptz, clock_timestamp())
      where shard = $1 and id = $2 and lease = $3 and state = 'processing'
      returning pg_notify('jobs_due', ''), pg_notify('job_changed', id)`,
    values: [claim.shard, claim.id, claim.lease, now],
  });
  return changed.length === 1;
}

/** The database's clock, for a statement that must not run long after it was sent. */
export async function readMoment(sql: Sql): Promise<Date> {
  const [row] = await sql.rows<{ moment: Date }>({
    name: 'read_moment',
    text: 'select clock_timestamp() as moment',
  });
  return row!.moment;
}

/**
 * Returns jobs whose lease has ended to the queue, and gives their ids. Changes nothing when it runs later than `validMs`
 * after `moment`: when a stopped database continues, the renewals that wait must run first.
 */
export async function returnLapsedJobs(
  sql: Sql,
  { moment, validMs }: { moment: Date; validMs: number },
): Promise<string[]> {
  const rows = await sql.rows<{ id: string }>({
    name: 'return_lapsed_jobs',
    text: `
      with lapsed as (
        -- every shard: a process holds leases in all shards
        select shard, id
        from jobs
        where state = 'processing' and next_at <= clock_timestamp()
          and clock_timestamp() <= $1::timestamptz + $2 * interval '1 millisecond'
        order by next_at
        limit 1000
        for update skip locked
      )
      update jobs
      set ${BACK_IN_QUEUE}, next_at = clock_timestamp()
      from lapsed
      where jobs.shard = lapsed.shard and jobs.id = lapsed.id
      returning jobs.id, pg_notify('jobs_due', ''), pg_notify('job_changed', jobs.id)`,
    values: [moment, validMs],
  });
  return rows.map(({ id }) => id);
}

/**
 * Returns the jobs of processes that have ended to the queue, and gives their ids. The attempt counts, since the job may
 * have ended the process, unless the job was started less than `freeStarts` times in all.
 * @param holders  the prefix of the holders' names: of one process, or of all processes of a node
 */
export async function returnJobsOf(
  sql: Sql,
  { holders, freeStarts }: { holders: string; freeStarts: number },
): Promise<string[]> {
  const rows = await sql.rows<{ id: string }>({
    text: `
      -- every shard: a process holds leases in all shards
      update jobs
      set ${BACK_IN_QUEUE}, next_at = clock_timestamp(),
        attempts = case when lease < $2 then attempts - 1 else attempts end
      where state = 'processing' and starts_with(holder, $1)
      returning id, pg_notify('jobs_due', ''), pg_notify('job_changed', id)`,
    values: [holders, freeStarts],
  });
  return rows.map(({ id }) => id);
}
