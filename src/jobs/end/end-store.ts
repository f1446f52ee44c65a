import { AFTER_ACCOUNT, moveUnits, settlementValues } from '../../accounts/ledger/ledger-store.ts';
import { creditRates } from '../../config/rates.ts';
import type { Config } from '../../config/settings.ts';
import type { Sql } from '../../db/database.ts';
import { defineStatement } from '../../db/statements/named-parameters.ts';
import { BOUNDS } from '../../rules/bounds.ts';
import type { TranscriptChunk } from '../../rules/search/chunks.ts';
import {
  DELIVERIES_INSERTED,
  eventValues,
  insertEventIf,
  type NewEvent,
  notifyDeliveriesDue,
} from '../../webhooks/events/store.ts';
import type { Job } from '../job.ts';
import { notifyEnd } from '../notify.ts';
import type { Claim } from '../queue/lease-store.ts';
import { moveToSql, nextState } from '../queue/moves.ts';
import type { JobNames } from '../request/names.ts';
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

const END_RUNNING = moveToSql('processing', '$state');
const FAIL_QUEUED = moveToSql('queued', '$state');

/** SQL of the CTE `ended`: the job's end, while the condition is true. */
const endJobIf = ({ to, from }: typeof END_RUNNING, condition: string): string => `
      ended as (
        update jobs
        set ${to}, model = $model, detected_language = $detectedLanguage, transcript = $transcript,
          segments = $segments, words = $packedWords, speakers = $speakers::jsonb, warnings = $warnings::jsonb, peaks = $peaks,
          duration_ms = $durationMs, cost_units = $costUnits, error_type = $errorType, error_message = $errorMessage,
          error_reason = $errorReason, error_http_status = $errorHttpStatus, progress = $progress, next_at = null,
          completed_at = $completedAt, expires_at = $expiresAt
        where shard = $shard and id = $jobId and ${from} and ${condition}
        returning title, tags
      )`;

const IS_ENDED = 'exists (select from ended)';
const IS_ENDED_AND_SETTLED = `${IS_ENDED} and ${AFTER_ACCOUNT}`;
const MOMENT = '$completedAt::timestamptz';

const END = defineStatement(
  { name: 'end_job' },
  `
      with clock as (
        select clock_timestamp() >= ${MOMENT}
            and clock_timestamp() < ${MOMENT} + ${BOUNDS.endWithinMs} * interval '1 millisecond' as is_in_time
      ), ${endJobIf(
        END_RUNNING,
        `lease = $lease and (select is_in_time from clock)
          and held_units = $heldUnits and transcribed_units = $transcribedUnits`,
      )}, swept as (
        delete from job_pieces
        where shard = $shard and job_id = $jobId and ${IS_ENDED}
      ), ${moveUnits({ moment: MOMENT, condition: IS_ENDED })}, ${insertEventIf(IS_ENDED)}, used as (
        ${addUsageIf({ moment: MOMENT, condition: IS_ENDED_AND_SETTLED })}
      ), ${insertChunksIf(IS_ENDED)}
      select ${DELIVERIES_INSERTED} as deliveries, title, tags
      from ended`,
);

// Nothing was held, and nothing transcribed.
const END_QUEUED = defineStatement(
  { name: 'end_queued_job' },
  `
      with ${endJobIf(FAIL_QUEUED, 'lease = 0 and held_units = 0')}, ${insertEventIf(IS_ENDED)}, used as (
        ${addUsageIf({ moment: MOMENT, condition: IS_ENDED })}
      )
      select ${DELIVERIES_INSERTED} as deliveries, title, tags
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
};

/**
 * Writes a job's end, settles its hold, inserts the event and its deliveries in one statement, and notifies everything
 * that waits for them. Null and nothing changed when the lease was lost, when the hold or the transcribed part has
 * changed, or when the time of the end is 5 s ago or has not come.
 */
export async function writeEnd(
  sql: Sql,
  { ended, event, chunks, peaks }: EndedJob,
  config: Config,
): Promise<Written | null> {
  const { id: jobId, accountId: id, shard, unlimited, heldUnits } = ended;
  const costUnits = ended.costUnits!;
  const settlement = settlementValues({ account: { id, shard, unlimited }, jobId, heldUnits, costUnits });
  const values = {
    ...endValues({ ended, event, peaks }, config),
    state: nextState('processing', ended.state),
    ...settlement,
    ...chunkValues(ended.createdAt, chunks),
  };
  const [written] = await sql.rows<Written>(END(values));
  notifyWritten(sql, ended, written);
  return written ?? null;
}

/**
 * Writes the end of a queued job for which nothing is held, inserts the event and its deliveries in one statement, and
 * notifies everything that waits for them. Null and nothing changed when the job is no longer queued.
 */
export async function writeQueuedEnd(
  sql: Sql,
  end: Pick<EndedJob, 'ended' | 'event'>,
  config: Config,
): Promise<Written | null> {
  const values = {
    ...endValues({ ...end, peaks: null }, config),
    state: nextState('queued', end.ended.state),
    jobId: end.ended.id,
  };
  const [written] = await sql.rows<Written>(END_QUEUED(values));
  notifyWritten(sql, end.ended, written);
  return written ?? null;
}

function endValues({ ended, event, peaks }: Omit<EndedJob, 'chunks'>, config: Config): Record<string, unknown> {
  return {
    ...ended,
    speakers: ended.speakers && JSON.stringify(ended.speakers),
    warnings: JSON.stringify(ended.warnings),
    peaks,
    packedWords: ended.words ?? null,
    ...eventValues(event, config),
    ...usageValues(ended, creditRates(config)[ended.plan]),
  };
}

/** The ids of the deliveries of the event, and the names of the job, which may have changed while it ran. */
type Written = JobNames & { deliveries: string[] };

function notifyWritten(sql: Sql, { id, shard }: Job, written: Written | undefined): void {
  if (!written) return;
  notifyEnd(sql, id);
  if (written.deliveries.length > 0) notifyDeliveriesDue(sql, shard);
}
