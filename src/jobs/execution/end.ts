import { settleJob } from '../../accounts/ledger/ledger-store.ts';
import type { Database } from '../../db/database.ts';
import { chargedUnits, costUnits } from '../../rules/jobs/price.ts';
import { emitEvent } from '../../webhooks/events/emit.ts';
import type { ClaimedJob, Job, Outcome } from '../job.ts';
import type { JobResult } from '../queue/queue-store.ts';
import { endClaimedJob, lockClaimedJob } from '../queue/queue-store.ts';
import { showJob } from '../view.ts';

export type EndDeps = {
  db: Database;
  /** Credits per minute of audio. */
  rates: { lite: number; pro: number };
  /** The delay before a delivery's first attempt. */
  firstDelayMs: number;
};

/**
 * Writes a job's end, settles its hold, emits its event and queues the deliveries in one transaction. Returns null when
 * the job is no longer held under this claim.
 */
export async function endJob(
  { db, rates, firstDelayMs }: EndDeps,
  job: ClaimedJob,
  outcome: Outcome,
): Promise<Job | null> {
  return await db.transaction(async (tx) => {
    const locked = await lockClaimedJob(tx, job);
    if (locked === null) return null;
    const result = resultOf(outcome, rates[job.plan], locked.transcribedUnits);
    const account = { id: job.accountId, shard: job.shard, unlimited: job.unlimited };
    const held = { account, jobId: job.id, heldUnits: locked.heldUnits };
    await settleJob(tx, { ...held, costUnits: result.costUnits });
    const ended = await endClaimedJob(tx, job, result, null);
    if (ended === null) throw new Error(`job ${job.id} changed under its lock`);
    await emitEvent(tx, {
      account,
      type: ended.state === 'completed' ? 'transcription.completed' : 'transcription.failed',
      jobId: job.id,
      data: { job: showJob(ended) },
      metadata: ended.metadata,
      firstDelayMs,
    });
    return ended;
  });
}

function resultOf(outcome: Outcome, rate: number, transcribedUnits: number): JobResult {
  if (outcome.kind === 'failed') {
    return failure(outcome, chargedUnits(outcome.type, { audioUnits: 0, transcribedUnits }));
  }
  const audioUnits = costUnits(outcome.durationMs, rate);
  return completion(outcome, chargedUnits('completed', { audioUnits, transcribedUnits }));
}

type Completed = Extract<Outcome, { kind: 'completed' }>;
type Failed = Extract<Outcome, { kind: 'failed' }>;

function completion(outcome: Completed, cost: number): JobResult {
  return {
    state: 'completed',
    model: outcome.model,
    detectedLanguage: outcome.language,
    transcript: outcome.transcript,
    segments: outcome.segments,
    durationMs: outcome.durationMs,
    costUnits: cost,
    errorType: null,
    errorMessage: null,
  };
}

function failure({ type, message, model, durationMs }: Failed, cost: number): JobResult {
  return {
    state: 'failed',
    model,
    detectedLanguage: null,
    transcript: null,
    segments: null,
    durationMs: durationMs ?? null,
    costUnits: cost,
    errorType: type,
    errorMessage: message,
  };
}
