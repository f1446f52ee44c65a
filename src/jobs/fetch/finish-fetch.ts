import { holdForJob } from '../../accounts/ledger/ledger-store.ts';
import { creditRates } from '../../config/rates.ts';
import type { Sql } from '../../db/database.ts';
import type { Runtime } from '../../db/runtime.ts';
import { channelsToHold } from '../../rules/channels/audio-tracks.ts';
import { costUnits, creditsToCover, creditsWithin } from '../../rules/jobs/price.ts';
import { composeEvent } from '../../webhooks/events/compose-event.ts';
import { expiryOf } from '../end/end.ts';
import { writeQueuedEnd } from '../end/end-store.ts';
import type { Job } from '../job.ts';
import { showJobInEvent } from '../view.ts';
import {
  deleteFetch,
  type FetchClaim,
  type FetchedAudioOfJob,
  lockFetchedJob,
  storeFetchedAudio,
} from './fetch-store.ts';

/** Why a job ends without its audio. */
export type FetchEnd = Pick<Job, 'errorMessage' | 'errorReason' | 'errorHttpStatus'> & {
  errorType: NonNullable<Job['errorType']>;
};

export type Finished =
  | { kind: 'queued' }
  /** The job has ended: its audio is not needed. */
  | { kind: 'failed'; job: Job; recorded: { eventId: string; deliveryIds: string[] } }
  /** The fetch is no longer held under this claim. */
  | { kind: 'lost' };

/**
 * Holds the cost of fetched audio and queues its job, in one transaction; where the balance does not cover the cost,
 * the job fails in it. URL and headers are deleted in both cases.
 */
export async function queueFetched(
  runtime: Runtime,
  claim: FetchClaim,
  audio: Omit<FetchedAudioOfJob, 'heldUnits'>,
): Promise<Finished> {
  return await runtime.db.transaction(async (tx) => {
    const job = await lockFetchedJob(tx, claim);
    if (job === null || !(await deleteFetch(tx, claim))) return { kind: 'lost' };
    const account = { id: job.accountId, shard: job.shard, unlimited: job.unlimited };
    const channels = channelsToHold(audio.tracks, job.options);
    const units = costUnits(audio.durationMs * channels, creditRates(runtime.config)[job.plan]);
    const hold = await holdForJob(tx, { account, jobId: job.id, units });
    if (hold.kind === 'short') return await endQueued(tx, runtime, job, shortage(units, hold.missingUnits));
    await storeFetchedAudio(tx, claim, { ...audio, heldUnits: account.unlimited ? 0 : units });
    return { kind: 'queued' };
  });
}

/** Fails the job of a fetch, with its event and deliveries, and deletes URL and headers, in one transaction. */
export async function failFetched(runtime: Runtime, claim: FetchClaim, end: FetchEnd): Promise<Finished> {
  return await runtime.db.transaction(async (tx) => {
    const job = await lockFetchedJob(tx, claim);
    if (job === null || !(await deleteFetch(tx, claim))) return { kind: 'lost' };
    return await endQueued(tx, runtime, job, end);
  });
}

async function endQueued(
  tx: Sql,
  { config }: Runtime,
  { moment, ...job }: Job & { moment: Date },
  end: FetchEnd,
): Promise<Finished> {
  const expiresAt = expiryOf(job.options, moment);
  const ended: Job = { ...job, ...end, state: 'failed', costUnits: 0, completedAt: moment, expiresAt };
  const event = composeEvent({
    account: { id: job.accountId, shard: job.shard },
    type: 'transcription.failed',
    jobId: job.id,
    data: { job: showJobInEvent(ended) },
    metadata: job.metadata,
    traceparent: job.traceparent,
    now: moment,
  });
  const written = await writeQueuedEnd(tx, { ended, event }, config);
  if (written === null) throw new Error(`job ${job.id} changed while it was locked`);
  return { kind: 'failed', job: ended, recorded: { eventId: event.id, deliveryIds: written.deliveries } };
}

function shortage(units: number, missingUnits: number): FetchEnd {
  const message =
    `The audio costs ${creditsToCover(units)} credits and the balance holds ${creditsWithin(units - missingUnits)}. ` +
    'Add credits, send it again.';
  return { errorType: 'insufficient_balance', errorMessage: message, errorReason: null, errorHttpStatus: null };
}
