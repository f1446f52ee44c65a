import type { Sql } from '../../db/database.ts';
import { defineStatement } from '../../db/statements/named-parameters.ts';
import { msOfUnits } from '../../rules/jobs/price.ts';
import type { UsageBucket, UsageRange } from '../../rules/jobs/usage-range.ts';
import type { Job, JobHead } from '../job.ts';

/**
 * SQL that adds a job that ends to the figures of its hour and of its day.
 * The parameters' values are those of `usageValues`.
 * @param moment     SQL of the time of the end
 * @param condition  SQL: nothing is added unless it is true
 */
export const addUsageIf = ({ moment, condition }: { moment: string; condition: string }): string => `
        insert into job_usage as known
          (shard, account_id, bucket, starts_at, plan, model, key_id, jobs, failed, canceled, audio_ms, billed_ms, cost_units)
        select $shard::smallint, $accountId, bucket, date_trunc(bucket, ${moment}, 'UTC'), $usedPlan, $usedModel, $usedKeyId,
          1, $failedJobs::integer, $canceledJobs::integer, $usedAudioMs::bigint, $billedMs::bigint, $usedUnits::bigint
        from (values ('hour'), ('day')) as period (bucket)
        where ${condition}
        on conflict (shard, account_id, bucket, starts_at, plan, model, key_id) do update
        set jobs = known.jobs + excluded.jobs, failed = known.failed + excluded.failed,
          canceled = known.canceled + excluded.canceled, audio_ms = known.audio_ms + excluded.audio_ms,
          billed_ms = known.billed_ms + excluded.billed_ms, cost_units = known.cost_units + excluded.cost_units`;

const ADD = defineStatement(
  { name: 'add_usage' },
  addUsageIf({ moment: '$completedAt::timestamptz', condition: 'true' }),
);

/** Adds a job to the figures, in the transaction that ends it. @param rate  credits per minute on its plan */
export async function addUsage(tx: Sql, ended: Job, rate: number): Promise<void> {
  const { shard, accountId, completedAt } = ended;
  await tx.run(ADD({ ...usageValues(ended, rate), shard, accountId, completedAt }));
}

/**
 * The values of `addUsageIf`.
 * @param ended  the job as it is after its end
 * @param rate  credits per minute on its plan
 */
export function usageValues(ended: Omit<JobHead, 'completedAt'>, rate: number) {
  const costUnits = ended.costUnits!;
  return {
    usedPlan: ended.plan,
    usedModel: ended.model ?? '',
    usedKeyId: ended.keyId ?? '',
    failedJobs: ended.state === 'failed' ? 1 : 0,
    canceledJobs: ended.state === 'canceled' ? 1 : 0,
    usedAudioMs: ended.durationMs ?? 0,
    billedMs: msOfUnits(costUnits, rate),
    usedUnits: costUnits,
  };
}

export const USAGE_GROUPS = ['plan', 'model', 'key'] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** The figures of one bucket, or of one group in it. Lengths in ms, money in units (rules/jobs/price.ts). */
export type UsageRow = {
  startsAt: Date;
  /** The plan, model or key; '' for jobs that ended before a model was chosen. Null without groups. */
  groupName: string | null;
  jobs: number;
  failed: number;
  canceled: number;
  audioMs: number;
  billedMs: number;
  costUnits: number;
};

/** Buckets in which jobs ended, oldest first; at most `limit` rows. */
export async function sumUsage(
  sql: Sql,
  { shard, id }: { shard: number; id: string },
  wish: { bucket: UsageBucket; range: UsageRange; groupBy: UsageGroup | null; limit: number },
): Promise<UsageRow[]> {
  const { bucket, range, groupBy, limit } = wish;
  return await sql.rows<UsageRow>({
    name: 'sum_usage',
    text: `
      select date_trunc($4, starts_at, 'UTC') as "startsAt",
        case $5 when 'plan' then plan when 'model' then model when 'key' then key_id end as "groupName",
        sum(jobs)::bigint as jobs, sum(failed)::bigint as failed, sum(canceled)::bigint as canceled,
        sum(audio_ms)::bigint as "audioMs", sum(billed_ms)::bigint as "billedMs", sum(cost_units)::bigint as "costUnits"
      from job_usage
      where shard = $1 and account_id = $2 and bucket = $3 and starts_at >= $6 and starts_at < $7
      group by 1, 2
      order by 1, 2
      limit $8`,
    values: [shard, id, bucket === 'hour' ? 'hour' : 'day', bucket, groupBy, range.from, range.to, limit],
  });
}

/** Deletes at most `limit` rows of hours of a shard that began `keepDays` ago or earlier. Returns how many. */
export async function deleteOldHours(
  sql: Sql,
  { shard, keepDays, limit, now = null }: { shard: number; keepDays: number; limit: number; now?: Date | null },
): Promise<number> {
  return await sql.run({
    name: 'delete_old_usage',
    text: `
      with old as materialized (
        select account_id, starts_at, plan, model, key_id
        from job_usage
        where shard = $1 and bucket = 'hour'
          and starts_at <= coalesce($2::timestamptz, clock_timestamp()) - $3::float8 * interval '24 hours'
        order by starts_at
        limit $4
      )
      delete from job_usage as known
      using old
      where known.shard = $1 and known.bucket = 'hour' and known.account_id = old.account_id
        and known.starts_at = old.starts_at and known.plan = old.plan and known.model = old.model
        and known.key_id = old.key_id`,
    values: [shard, now, keepDays, limit],
  });
}

/** Deletes at most `limit` rows of an account's figures. Returns how many. */
export async function deleteUsageOf(
  sql: Sql,
  { shard, id }: { shard: number; id: string },
  limit: number,
): Promise<number> {
  return await sql.run({
    text: `
      with old as materialized (
        select bucket, starts_at, plan, model, key_id
        from job_usage
        where shard = $1 and account_id = $2
        limit $3
      )
      delete from job_usage as known
      using old
      where known.shard = $1 and known.account_id = $2 and known.bucket = old.bucket and known.starts_at = old.starts_at
        and known.plan = old.plan and known.model = old.model and known.key_id = old.key_id`,
    values: [shard, id, limit],
  });
}
