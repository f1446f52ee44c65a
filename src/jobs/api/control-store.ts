import { settleHold } from '../../accounts/ledger/ledger-store.ts';
import type { Sql } from '../../db/database.ts';
import type { Job, JobHead } from '../job.ts';
import { notifyEnd } from '../notify.ts';
import { moveSql } from '../queue/moves.ts';
import { JOB_COLUMNS, JOB_HEAD_COLUMNS } from '../store.ts';
import { addUsage } from '../usage/usage-store.ts';

/** The job, locked for the rest of the transaction, so that it is neither started nor ended meanwhile. */
export async function lockJob(
  tx: Sql,
  { shard, accountId, id }: { shard: number; accountId: string; id: string },
): Promise<JobHead | null> {
  const rows = await tx.rows<JobHead>({
    name: 'lock_job',
    text: `select ${JOB_HEAD_COLUMNS} from jobs where shard = $1 and id = $2 and account_id = $3 for update`,
    values: [shard, id, accountId],
  });
  return rows[0] ?? null;
}

/** Replaces metadata, title and tags of a job that `lockJob` returned. */
export async function setLabels(
  tx: Sql,
  { shard, id, metadata, title, tags }: Pick<JobHead, 'shard' | 'id' | 'metadata' | 'title' | 'tags'>,
): Promise<void> {
  await tx.run({
    name: 'set_job_labels',
    text: `
      update jobs
      set metadata = $3, title = $4, tags = $5::jsonb
      where shard = $1 and id = $2`,
    values: [shard, id, metadata, title, JSON.stringify(tags)],
  });
}

/**
 * Cancels a job that `lockJob` returned and that has not ended, settles its hold, and notifies its worker and
 * everything that waits for it. Locks the rows of job, account, queue and usage in this order, as every other
 * transaction does.
 * @param rate  credits per minute on the job's plan
 */
export async function cancelOpenJob(
  tx: Sql,
  job: JobHead,
  { costUnits, rate, now }: { costUnits: number; rate: number; now: Date | null },
): Promise<Job> {
  const { id: jobId, accountId, shard, unlimited, heldUnits } = job;
  const canceled = await setCanceled(tx, job, { costUnits, now });
  await settleHold(tx, { account: { id: accountId, shard, unlimited }, jobId, heldUnits, costUnits }, now);
  if (job.state === 'queued' && job.lease === 0 && job.audioKey !== null) await uncountWaiting(tx, job);
  await addUsage(tx, canceled, rate);
  notifyEnd(tx, jobId);
  return canceled;
}

const CANCEL = moveSql('cancel');

/** Its partial results, and the URL of audio that is yet to be fetched, are deleted. */
async function setCanceled(
  tx: Sql,
  { shard, id, options }: JobHead,
  { costUnits, now }: { costUnits: number; now: Date | null },
): Promise<Job> {
  const [canceled] = await tx.rows<Job>({
    name: 'cancel_job',
    text: `
      with clock as (
        select coalesce($5::timestamptz, clock_timestamp()) as moment
      ), swept as (
        delete from job_pieces
        where shard = $1 and job_id = $2
      ), unfetched as (
        delete from audio_fetches
        where shard = $1 and job_id = $2
      )
      update jobs
      set ${CANCEL.to}, cost_units = $3, next_at = null, completed_at = (select moment from clock),
        expires_at = (
          select date_trunc('milliseconds', moment) + $4::integer * interval '1 second'
          from clock
        )
      where shard = $1 and id = $2 and ${CANCEL.from}
      returning ${JOB_COLUMNS}`,
    values: [shard, id, costUnits, options.delete_after_seconds ?? null, now],
  });
  return canceled!;
}

async function uncountWaiting(tx: Sql, { shard, accountId }: JobHead): Promise<void> {
  await tx.run({
    name: 'uncount_waiting_job',
    text: `
      update job_queues
      set waiting = waiting - 1
      where shard = $1 and account_id = $2`,
    values: [shard, accountId],
  });
}
