import { captureForJob, releaseForJob } from '../accounts/store.ts';
import type { Database, Sql } from '../db/sql.ts';
import { emitEvent } from '../events/emit.ts';
import { costUnits, creditsFromUnits } from '../rules/price.ts';
import type { ClaimedJob, Job, Outcome } from './job.ts';
import type { Ending } from './queue-store.ts';
import { endClaimedJob, lockClaimedJob } from './queue-store.ts';
import { showJob } from './view.ts';

export type EndDeps = {
  db: Database;
  /** Credits per minute of audio. */
  rates: { lite: number; pro: number };
  /** The wait before a delivery's first attempt. */
  firstDelayMs: number;
};

/**
 * Writes a job's end, settles its hold, emits its event and puts the deliveries in the queue: all of it in one
 * transaction, or none. Null when the job is no longer held under this claim: another process ends it, or did.
 */
export async function endJob(
  { db, rates, firstDelayMs }: EndDeps,
  job: ClaimedJob,
  outcome: Outcome,
): Promise<Job | null> {
  return await db.transaction(async (tx) => {
    if (!(await lockClaimedJob(tx, job))) return null;
    const ending = await settle(tx, job, outcome, rates[job.plan]);
    const ended = await endClaimedJob(tx, job, ending, null);
    if (ended === null) throw new Error(`job ${job.id} changed under its lock`);
    await emitEvent(tx, {
      account: { id: job.accountId, lane: job.lane },
      type: ended.state === 'completed' ? 'transcription.completed' : 'transcription.failed',
      jobId: job.id,
      data: { job: showJob(ended) },
      metadata: ended.metadata,
      firstDelayMs,
    });
    return ended;
  });
}

/** Takes the cost of what was decoded, or gives the hold back; what the ledger says decides how the job ends. */
async function settle(tx: Sql, job: ClaimedJob, outcome: Outcome, rate: number): Promise<Ending> {
  const account = { id: job.accountId, lane: job.lane, unlimited: job.unlimited };
  const held = { account, jobId: job.id, heldUnits: job.heldUnits };
  if (outcome.kind === 'completed') {
    const cost = costUnits(outcome.durationMs, rate);
    const capture = await captureForJob(tx, { ...held, costUnits: cost });
    if (capture.kind === 'captured') return completion(outcome, cost);
    await releaseForJob(tx, held);
    return tooExpensive(outcome, cost, capture.thereUnits);
  }
  await releaseForJob(tx, held);
  return failure(outcome);
}

type Completed = Extract<Outcome, { kind: 'completed' }>;
type Failed = Extract<Outcome, { kind: 'failed' }>;

function completion(outcome: Completed, cost: number): Ending {
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

function failure({ type, message, model }: Failed): Ending {
  return {
    state: 'failed',
    model,
    detectedLanguage: null,
    transcript: null,
    segments: null,
    durationMs: null,
    costUnits: 0,
    errorType: type,
    errorMessage: message,
  };
}

function tooExpensive({ durationMs, model }: Completed, cost: number, thereUnits: number): Ending {
  const message =
    `The audio is longer than its headers say: it costs ${creditsFromUnits(cost)} credits and the balance holds ` +
    `${creditsFromUnits(thereUnits)}. Add credits, send it again.`;
  return { ...failure({ kind: 'failed', type: 'insufficient_balance', message, model }), durationMs };
}
