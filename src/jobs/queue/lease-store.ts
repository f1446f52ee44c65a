import type { Sql } from '../../db/database.ts';
import type { Job } from '../job.ts';
import { notifyChanged, notifyDue } from '../notify.ts';
import type { JobKey } from '../store.ts';
import { moveSql } from './moves.ts';

/** Identifies a claim of a job by the lease's number. */
export type Claim = Pick<Job, 'shard' | 'id' | 'lease'>;

/** The process that holds a lease, as `<node>/<process>`; null if the lease is never released by name. */
export type Holder = string | null;

type Now = Date | null;

// Like a job that was never started, except for the number of attempts and the lease: job_queues does not count the
// job. created_at, which orders the queue, is unchanged.
const BACK_IN_QUEUE = 'progress = 0, started_at = null, holder = null';

const HAND_BACK = moveSql('hand_back');
const WAIT = moveSql('wait');
const RELEASE = moveSql('release');

/** A claim of a job or of a live session, which has its own length of the lease and no progress. */
type HeldClaim = Claim & { progress?: number; leaseMs?: number };

/**
 * Moves the ends of these leases, all of one shard, to `leaseMs` from now and stores the jobs' progress. Returns the
 * ids of the jobs that are still held. Skips a row that is locked, because its job is being ended: it counts as held
 * and is not renewed.
 */
export async function renewLeases(
  sql: Sql,
  claims: HeldClaim[],
  { shard, leaseMs, now }: { shard: number; leaseMs: number; now: Now },
): Promise<string[]> {
  const rows = await sql.rows<{ id: string }>({
    name: 'renew_job_leases',
    text: `
      with clock as (
        select coalesce($6::timestamptz, clock_timestamp()) as moment
      ), claims as (
        select *
        from unnest($2::text[], $3::int[], $4::real[], $5::int[]) as c (id, lease, progress, lease_ms)
      ), free as (
        select jobs.id, claims.progress, claims.lease_ms
        from claims
        join jobs on jobs.id = claims.id and jobs.lease = claims.lease
        where jobs.shard = $1 and jobs.state = 'processing'
        for update of jobs skip locked
      ), renewed as (
        update jobs
        set next_at = (select moment from clock) + free.lease_ms * interval '1 millisecond', progress = greatest(jobs.progress, free.progress)
        from free
        where jobs.shard = $1 and jobs.id = free.id
      )
      select jobs.id
      from claims
      join jobs on jobs.id = claims.id and jobs.lease = claims.lease
      where jobs.shard = $1 and jobs.state = 'processing'`,
    values: [
      shard,
      claims.map(({ id }) => id),
      claims.map(({ lease }) => lease),
      claims.map(({ progress = 0 }) => progress),
      claims.map((claim) => claim.leaseMs ?? leaseMs),
      now,
    ],
  });
  return rows.map(({ id }) => id);
}

/**
 * Returns a job to the queue without counting the attempt; it starts before other jobs. False when the lease was lost.
 */
export async function handBackJob(sql: Sql, claim: Claim, now: Now): Promise<boolean> {
  const changed = await sql.run({
    name: 'hand_back_job',
    text: `
      with clock as (
        select coalesce($4::timestamptz, clock_timestamp()) as moment
      )
      update jobs
      set ${HAND_BACK.to}, ${BACK_IN_QUEUE}, attempts = attempts - 1, next_at = (select moment from clock)
      where shard = $1 and id = $2 and lease = $3 and ${HAND_BACK.from}`,
    values: [claim.shard, claim.id, claim.lease, now],
  });
  if (changed === 1) notifyReturned(sql, [claim.id]);
  return changed === 1;
}

/**
 * Returns a job to the queue until what it waits for is there: as `handBackJob`, but with the progress that its kept
 * pieces make.
 */
export async function returnWaitingJob(sql: Sql, claim: Claim): Promise<boolean> {
  const changed = await sql.run({
    name: 'return_waiting_job',
    text: `
      with clock as (
        select clock_timestamp() as moment
      )
      update jobs
      set ${WAIT.to}, started_at = null, holder = null, attempts = attempts - 1, next_at = (select moment from clock)
      where shard = $1 and id = $2 and lease = $3 and ${WAIT.from}`,
    values: [claim.shard, claim.id, claim.lease],
  });
  if (changed === 1) notifyReturned(sql, [claim.id]);
  return changed === 1;
}

/** Jobs whose lease has ended, at most 1,000, and the database's time at which they were read. */
export async function findLapsedJobs(sql: Sql): Promise<(JobKey & { moment: Date })[]> {
  return await sql.rows({
    name: 'find_lapsed_jobs',
    text: `
      -- every shard: a process holds leases in all shards
      select shard, id, clock_timestamp() as moment
      from jobs
      where state = 'processing' and next_at <= clock_timestamp()
      order by next_at
      limit 1000`,
  });
}

/**
 * Returns those of the jobs, all of one shard, whose lease has ended to the queue, and gives their ids. Changes nothing
 * when it runs later than `validMs` after `moment`: when a stopped database continues, the renewals that wait must run
 * first.
 */
export async function returnLapsedJobs(
  sql: Sql,
  { shard, ids, moment, validMs }: { shard: number; ids: string[]; moment: Date; validMs: number },
): Promise<string[]> {
  const rows = await sql.rows<{ id: string }>({
    name: 'return_lapsed_jobs',
    text: `
      with clock as (
        select clock_timestamp() as moment
      ), lapsed as (
        select id
        from jobs
        where shard = $1 and id = any($2) and ${RELEASE.from} and next_at <= clock_timestamp()
          and clock_timestamp() <= $3::timestamptz + $4 * interval '1 millisecond'
        for update skip locked
      )
      update jobs
      set ${RELEASE.to}, ${BACK_IN_QUEUE}, next_at = (select moment from clock)
      where shard = $1 and id = any(array(select id from lapsed))
      returning id`,
    values: [shard, ids, moment, validMs],
  });
  const returned = rows.map(({ id }) => id);
  notifyReturned(sql, returned);
  return returned;
}

/**
 * Returns the jobs of processes that have ended to the queue, and gives their ids. The attempt counts, since the job
 * may have ended the process, unless the job was started less than `freeStarts` times in all.
 * @param holders  the prefix of the holders' names: of one process, or of all processes of a node
 */
export async function returnJobsOf(
  sql: Sql,
  { holders, freeStarts }: { holders: string; freeStarts: number },
): Promise<string[]> {
  const rows = await sql.rows<{ id: string }>({
    text: `
      -- every shard: a process holds leases in all shards
      with clock as (
        select clock_timestamp() as moment
      )
      update jobs
      set ${RELEASE.to}, ${BACK_IN_QUEUE}, next_at = (select moment from clock),
        attempts = case when lease < $2 then attempts - 1 else attempts end
      where ${RELEASE.from} and not is_live and starts_with(holder, $1)
      returning id`,
    values: [holders, freeStarts],
  });
  const returned = rows.map(({ id }) => id);
  notifyReturned(sql, returned);
  return returned;
}

function notifyReturned(sql: Sql, ids: string[]): void {
  if (ids.length > 0) notifyDue(sql);
  for (const id of ids) notifyChanged(sql, id);
}
