import { creditRates } from '../../config/rates.ts';
import type { Runtime } from '../../db/runtime.ts';
import { chargedUnits, costUnits } from '../../rules/jobs/price.ts';
import { composeEvent } from '../../webhooks/events/compose-event.ts';
import type { ClaimedJob, Job, Outcome } from '../job.ts';
import { chunksOf } from '../search/search-index.ts';
import { showJobInEvent } from '../view.ts';
import { type RunningJob, readRunningJob, writeEnd } from './end-store.ts';
import { logEnd } from './log-end.ts';

// A write of this worker that the database executed late may change the job between the read and the write, or the
// write itself may be late.
const MAX_TRIES = 10;

/**
 * Writes a job's end, settles its hold, emits its event, queues the deliveries and indexes the transcript in one
 * statement, and logs the job. Returns null when the job is no longer held under this claim.
 * @param expected  the job's row and the database's time as far as this worker knows them, which saves reading them;
 *                  null where it does not. The end is written only if the row is so, and the time at most 5 s old.
 */
export async function endJob(
  { db, config, log }: Runtime,
  job: ClaimedJob,
  outcome: Outcome,
  expected: RunningJob | null = null,
): Promise<Job | null> {
  const rate = creditRates(config)[job.plan];
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const running = (tries === 0 && expected) || (await readRunningJob(db, job));
    if (running === null) return null;
    const ended = endOf(job, running, { outcome, rate });
    const event = composeEvent({
      account: { id: job.accountId, shard: job.shard },
      type: ended.state === 'completed' ? 'transcription.completed' : 'transcription.failed',
      jobId: job.id,
      data: { job: showJobInEvent(ended) },
      metadata: ended.metadata,
      traceparent: ended.traceparent,
      now: running.moment,
    });
    const chunks = config.search === 'on' ? chunksOf(ended) : [];
    const peaks = (outcome.kind === 'completed' && outcome.peaks) || null;
    const written = await writeEnd(db, { ended, event, chunks, peaks }, config);
    if (written === null) continue;
    const { deliveries, ...names } = written;
    logEnd(log, ended, { eventId: event.id, deliveryIds: deliveries });
    return { ...ended, ...names };
  }
  throw new Error(`job ${job.id} changed ${MAX_TRIES} times while its end was written`);
}

/** When a job that ended is to be erased; null to keep it for the usual time. */
export function expiryOf({ delete_after_seconds: seconds }: Job['options'], completedAt: Date): Date | null {
  return seconds === undefined ? null : new Date(completedAt.getTime() + seconds * 1000);
}

function endOf(job: ClaimedJob, running: RunningJob, { outcome, rate }: { outcome: Outcome; rate: number }): Job {
  const { moment, ...changed } = running;
  const { transcribedUnits } = changed;
  const expiresAt = expiryOf(job.options, moment);
  const before: Job = { ...job, ...changed, completedAt: moment, expiresAt, model: outcome.model };
  if (outcome.kind === 'failed') {
    return {
      ...before,
      state: 'failed',
      durationMs: outcome.durationMs ?? job.durationMs,
      costUnits: chargedUnits(outcome.type, { audioUnits: 0, transcribedUnits }),
      errorType: outcome.type,
      errorMessage: outcome.message,
    };
  }
  const audioUnits = costUnits(outcome.chargedMs, rate);
  return {
    ...before,
    state: 'completed',
    detectedLanguage: outcome.language,
    transcript: outcome.transcript,
    segments: outcome.segments,
    speakers: outcome.speakers,
    words: outcome.words,
    warnings: outcome.warnings,
    durationMs: outcome.durationMs,
    costUnits: chargedUnits('completed', { audioUnits, transcribedUnits }),
    progress: 1,
  };
}
