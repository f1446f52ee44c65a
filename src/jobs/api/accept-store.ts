import { holdValues, moveUnits } from '../../accounts/ledger/ledger-store.ts';
import type { Sql } from '../../db/database.ts';
import { defineStatement } from '../../db/statements/named-parameters.ts';
import { metadataPairs } from '../../rules/search/metadata-pairs.ts';
import type { Job } from '../job.ts';
import { notifyDue } from '../notify.ts';
import { insertPairsIf, pairValues } from '../search/metadata-store.ts';
import { JOB_COLUMNS } from '../store.ts';

export type NewJob = Pick<
  Job,
  | 'shard'
  | 'id'
  | 'accountId'
  | 'keyId'
  | 'plan'
  | 'language'
  | 'wordTimes'
  | 'options'
  | 'metadata'
  | 'filename'
  | 'format'
  | 'sizeBytes'
  | 'audioKey'
  | 'durationMs'
  | 'unlimited'
  | 'heldUnits'
>;

// Locks the account's row before the row of its queue, as every other statement does.
const ACCEPT = defineStatement(
  { name: 'accept_job' },
  `
      with clock as (
        select coalesce($now::timestamptz, clock_timestamp()) as moment
      ), ${moveUnits()}, job as (
        insert into jobs
          (shard, id, account_id, key_id, state, plan, language, word_times, options, metadata, filename, format, size_bytes,
           audio_key, duration_ms, unlimited, held_units, next_at, created_at)
        select $shard::smallint, $jobId, $accountId, $keyId, 'queued', $plan, $language, $wordTimes, $options::jsonb, $metadata,
          $filename, $format, $sizeBytes, $audioKey, $durationMs, $unlimited::boolean, $heldUnits, moment, moment
        from clock
        where $unlimited or exists (select from moved)
        returning ${JOB_COLUMNS}
      ), ${insertPairsIf('exists (select from job)')}, counted as (
        insert into job_queues as queue (shard, account_id, waiting)
        select $shard, $accountId, 1
        from job
        on conflict (shard, account_id) do update
        set waiting = queue.waiting + 1
      )
      select * from job`,
);

/**
 * Holds a job's cost, inserts the job as the account's last waiting one and notifies the transcribers, in one statement.
 * Null when the balance does not cover the hold.
 */
export async function acceptJob(sql: Sql, job: NewJob, now: Date | null = null): Promise<Job | null> {
  const { id: jobId, accountId: id, shard, unlimited, heldUnits: units } = job;
  const hold = holdValues({ account: { id, shard, unlimited }, jobId, units });
  const pairs = pairValues(metadataPairs(job.metadata));
  const values = { ...job, ...hold, ...pairs, options: JSON.stringify(job.options), now };
  const [accepted] = await sql.rows<Job>(ACCEPT(values));
  if (accepted) notifyDue(sql);
  return accepted ?? null;
}
