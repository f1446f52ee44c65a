import { moveUnits, settlementValues } from '../../accounts/ledger/ledger-store.ts';
import type { Sql } from '../../db/database.ts';
import { defineStatement } from '../../db/statements/named-parameters.ts';
import type { Job } from '../job.ts';
import { notifyEnd } from '../notify.ts';
import { JOB_COLUMNS } from '../store.ts';
import { addUsageIf, usageValues } from '../usage/usage-store.ts';

/** The job, locked for the rest of the transaction, so that it is neither started nor ended meanwhile. */
export async function lockJob(
  tx: Sql,
  { shard, accountId, id }: { shard: number; accountId: string; id: string },
): Promise<Job | null> {
  const rows = await tx.rows<Job>({
    name: 'lock_job',
    text: `select ${JOB_COLUMNS} from jobs where shard = $1 and id = $2 and account_id = $3 for update`,
    values: [shard, id, accountId],
  });
  return rows[0] ?? null;
}

/** Replaces the metadata of a job that `lockJob` returned. @param metadata  JSON text; null for none */
export async function setMetadata(
  tx: Sql,
  { shard, id }: { shard: number; id: string },
  metadata: string | null,
): Promise<void> {
  await tx.run({
    name: 'set_job_metadata',
    text: `
      update jobs
      set metadata = $3
      where shard = $1 and id = $2`,
    values: [shard, id, metadata],
  });
}

// The account's row is locked before the row of its queue, as when a job is accepted.
const CANCEL = defineStatement(
  { name: 'cancel_job' },
  `
      with clock as (
        select coalesce($now::timestamptz, clock_timestamp()) as moment
      ), canceled as (
        update jobs
        set state = 'canceled', cost_units = $costUnits, next_at = null, completed_at = (select moment from clock),
          expires_at = (
            select date_trunc('milliseconds', moment) + $deleteAfterSeconds::integer * interval '1 second'
            from clock
          )
        where shard = $shard and id = $jobId and state in ('queued', 'processing')
        returning ${JOB_COLUMNS}
      ), swept as (
        delete from job_pieces
        where shard = $shard and job_id = $jobId and exists (select from canceled)
      ), unfetched as (
        delete from audio_fetches
        where shard = $shard and job_id = $jobId and exists (select from canceled)
      ), ${moveUnits('exists (select from canceled)')}, counted as (
        update job_queues
        set waiting = waiting - 1
        where shard = $shard and account_id = $accountId and $isWaiting and exists (select from canceled)
          and (select count(*) from moved) >= 0
      ), ${addUsageIf('exists (select from canceled)')}
      select * from canceled`,
);

/**
 * Cancels a job that `lockJob` returned and that has not ended, settles its hold, and notifies its worker and everything
 * that waits for it.
 * @param rate  credits per minute on the job's plan
 */
export async function cancelOpenJob(
  tx: Sql,
  job: Job,
  { costUnits, rate, now }: { costUnits: number; rate: number; now: Date | null },
): Promise<Job> {
  const { id: jobId, accountId: id, shard, unlimited, heldUnits } = job;
  const settlement = settlementValues({ account: { id, shard, unlimited }, jobId, heldUnits, costUnits });
  const usage = usageValues({ ...job, state: 'canceled', costUnits }, rate);
  const deleteAfterSeconds = job.options.delete_after_seconds ?? null;
  const isWaiting = job.state === 'queued' && job.lease === 0 && job.audioKey !== null;
  const [canceled] = await tx.rows<Job>(
    CANCEL({ ...settlement, ...usage, costUnits, isWaiting, deleteAfterSeconds, now }),
  );
  notifyEnd(tx, jobId);
  return canceled!;
}
