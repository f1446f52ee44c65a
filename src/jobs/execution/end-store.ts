import { moveUnits, settlementValues } from '../../accounts/ledger/ledger-store.ts';
import type { Sql } from '../../db/database.ts';
import { defineStatement } from '../../db/statements/named-parameters.ts';
import type { TranscriptChunk } from '../../rules/search/chunks.ts';
import type { NewEvent } from '../../webhooks/events/store.ts';
import { eventValues, insertEventIf, notifyDeliveriesDue } from '../../webhooks/events/store.ts';
import type { Job } from '../job.ts';
import { notifyEnd } from '../notify.ts';
import type { Claim } from '../queue/lease-store.ts';
import { chunkValues, insertChunksIf } from '../search/chunk-store.ts';
import { addUsageIf, usageValues } from '../usage/usage-store.ts';

/** The parts of a running job that other statements change, and the database's time. */
export type RunningJob = Pick<Job, 'heldUnits' | 'transcribedUnits' | 'progress'> & { moment: Date };

/** Null when the job is no longer held under this claim. */
export async function readRunningJob(sql: Sql, claim: Claim): Promise<RunningJob | null> {
  const rows = await sql.rows<RunningJob>({
    name: 'read_running_job',
    isBrief: true,
    text: `
      select held_units as "heldUnits", transcribed_units as "transcribedUnits", progress, clock_timestamp() as moment
      from jobs
      where shard = $1 and id = $2 and lease = $3 and state = 'processing'`,
    values: [claim.shard, claim.id, claim.lease],
  });
  return rows[0] ?? null;
}

// The streams of accounts read the events again whose time is at most 10 s before the start of a transaction that still
// runs: an event must not be older.
const WRITE_WITHIN_MS = 5_000;

const END = defineStatement(
  { name: 'end_job' },
  `
      with clock as (
        select $completedAt::timestamptz as moment,
          clock_timestamp() < $completedAt::timestamptz + ${WRITE_WITHIN_MS} * interval '1 millisecond' as is_in_time
      ), ended as (
        update jobs
        set state = $state, model = $model, detected_language = $detectedLanguage, transcript = $transcript,
          segments = $segments, speakers = $speakers::jsonb, warnings = $warnings::jsonb, peaks = $peaks,
          duration_ms = $durationMs, cost_units = $costUnits, error_type = $errorType, error_message = $errorMessage, progress = $progress,
          next_at = null, completed_at = $completedAt, expires_at = $expiresAt
        where shard = $shard and id = $jobId and lease = $lease and state = 'processing'
          and held_units = $heldUnits and transcribed_units = $transcribedUnits and (select is_in_time from clock)
        returning id
      ), swept as (
        delete from job_pieces
        where shard = $shard and job_id = $jobId and exists (select from ended)
      ), ${moveUnits('exists (select from ended)')}, ${insertEventIf('exists (select from ended)')},
      ${addUsageIf('exists (select from ended)')}, ${insertChunksIf('exists (select from ended)')}
      select (select count(*) from delivery) as deliveries
      from ended`,
);

type EndedJob = {
  /** The job as it is after its end. */
  ended: Job;
  event: NewEvent;
  /** The words of its transcript, for search. */
  chunks: TranscriptChunk[];
  /** The waveform, from `PeakCollector`. */
  peaks: Buffer | null;
  /** The delay before a delivery's first attempt. */
  firstDelayMs: number;
  /** Credits per minute on the job's plan. */
  rate: number;
};

/**
 * Writes a job's end, settles its hold, inserts the event and its deliveries in one statement, and notifies everything that
 * waits for them. False and nothing changed when the lease was lost, when the hold or the transcribed part has changed, or
 * when the time of the end is 5 s ago.
 */
export async function writeEnd(
  sql: Sql,
  { ended, event, chunks, peaks, firstDelayMs, rate }: EndedJob,
): Promise<boolean> {
  const { id: jobId, accountId: id, shard, unlimited, heldUnits } = ended;
  const costUnits = ended.costUnits!;
  const settlement = settlementValues({ account: { id, shard, unlimited }, jobId, heldUnits, costUnits });
  const eventParts = eventValues(event, { webhookId: null, firstDelayMs, now: null });
  const lists = {
    speakers: ended.speakers && JSON.stringify(ended.speakers),
    warnings: JSON.stringify(ended.warnings),
  };
  const values = {
    ...{ ...ended, ...lists, peaks },
    ...eventParts,
    ...settlement,
    ...usageValues(ended, rate),
    ...chunkValues(ended.createdAt, chunks),
  };
  const [written] = await sql.rows<{ deliveries: number }>(END(values));
  if (!written) return false;
  notifyEnd(sql, jobId);
  if (written.deliveries > 0) notifyDeliveriesDue(sql, shard);
  return true;
}
