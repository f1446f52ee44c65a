import type { Sql } from '../../db/database.ts';
import type { Plan } from '../../rules/accounts/plan.ts';
import { BOUNDS } from '../../rules/bounds.ts';
import type { Wait, WaitingFor } from '../../rules/jobs/job-state.ts';
import type { JobKey } from '../store.ts';

/** What a transcriber lacks for the jobs of a plan; null: it can work on them. */
export type PlanReport = { plan: Plan; waitingFor: WaitingFor | null };

/**
 * Stores what a transcriber can work for. The jobs of a plan wait once no transcriber has reported for 15 s that it
 * works for the plan, or the one that reported last says that it does not any more.
 * @param worker  the transcriber
 */
export async function reportWaits(sql: Sql, worker: string, reports: PlanReport[]): Promise<void> {
  await sql.run({
    name: 'report_plan_waits',
    text: `
      with clock as (
        select clock_timestamp() as moment
      )
      insert into plan_waits as known (plan, worker, worked_at, waiting_for, since)
      select plan, case when waiting_for is null then $1 end, case when waiting_for is null then moment end,
        waiting_for, case when waiting_for is not null then moment end
      from clock, unnest($2::text[], $3::text[]) as report (plan, waiting_for)
      on conflict (plan) do update
      set worker = coalesce(excluded.worker, known.worker), worked_at = coalesce(excluded.worked_at, known.worked_at),
        waiting_for = excluded.waiting_for,
        since = case when excluded.since is not null then coalesce(known.since, excluded.since) end
      where excluded.waiting_for is null or known.worker is null or known.worker = $1
        or known.worked_at < excluded.since - $4 * interval '1 second'`,
    values: [
      worker,
      reports.map(({ plan }) => plan),
      reports.map(({ waitingFor }) => waitingFor),
      BOUNDS.planTrustMs / 1000,
    ],
  });
}

/** What the jobs of the plans wait for, without plans whose jobs wait for their turn only. */
export async function findWaits(sql: Sql): Promise<(Wait & { plan: Plan })[]> {
  return await sql.rows({
    name: 'find_plan_waits',
    isBrief: true,
    text: `
      select plan, waiting_for as "waitingFor", since
      from plan_waits
      where waiting_for is not null`,
  });
}

/**
 * Queued jobs that have waited for `hours`, because their plan's engine or the storage is away, at most `limit` of
 * them, and the database's time at which they were read. Live sessions keep waiting: their audio is stored.
 */
export async function findWaitedTooLong(
  sql: Sql,
  { hours, limit }: { hours: number; limit: number },
): Promise<(JobKey & { moment: Date; waitingFor: WaitingFor })[]> {
  return await sql.rows({
    name: 'find_waited_too_long',
    text: `
      -- every shard: an engine that is away is away for all
      select jobs.shard, jobs.id, clock_timestamp() as moment, plan_waits.waiting_for as "waitingFor"
      from plan_waits
      join jobs on jobs.plan = plan_waits.plan
      where plan_waits.waiting_for is not null
        and plan_waits.since < clock_timestamp() - $1 * interval '1 hour'
        and jobs.state = 'queued' and jobs.audio_key is not null and not jobs.is_live
        and jobs.created_at < clock_timestamp() - $1 * interval '1 hour'
      limit $2`,
    values: [hours, limit],
  });
}

/** The queued jobs of each plan whose audio is stored. */
export async function countQueued(sql: Sql): Promise<{ plan: Plan; jobs: number; waitingFor: WaitingFor | null }[]> {
  return await sql.rows({
    name: 'count_queued_jobs',
    text: `
      -- every shard: a figure for the operator
      select queued.plan, queued.jobs, plan_waits.waiting_for as "waitingFor"
      from (
        select plan, count(*) as jobs
        from jobs
        where state = 'queued' and audio_key is not null
        group by plan
      ) as queued
      left join plan_waits on plan_waits.plan = queued.plan`,
  });
}
