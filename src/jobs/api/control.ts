import type { Account } from '../../accounts/account.ts';
import type { StorageRuntime } from '../../audio/storage/storage.ts';
import { creditRates } from '../../config/rates.ts';
import type { Database, Sql } from '../../db/database.ts';
import { ApiError } from '../../http/api-error.ts';
import { type Call, type IdempotencyHandle, NO_IDEMPOTENCY_KEY } from '../../http/route.ts';
import { isId } from '../../rules/ids.ts';
import { isTerminal } from '../../rules/jobs/job-state.ts';
import { chargedUnits, costUnits } from '../../rules/jobs/price.ts';
import { pairsOf } from '../../rules/search/metadata-pairs.ts';
import type { Job, JobHead } from '../job.ts';
import { chargedMsOf, findLiveSession } from '../live/live-store.ts';
import { jobOr404 } from '../own-job.ts';
import { eraseAudio } from '../retention/audio-sweep.ts';
import { eraseJob } from '../retention/erase-job.ts';
import { replacePairs } from '../search/metadata-store.ts';
import { showJob } from '../view.ts';
import { cancelOpenJob, lockJob, setLabels } from './control-store.ts';
import type { JobsRuntime } from './jobs-api.ts';

/** What canceling a job runs on. */
export type ControlRuntime = StorageRuntime & Pick<JobsRuntime, 'jobMetrics'>;

/**
 * Ends a job without a transcript or an event. Pieces whose text is stored are charged; the rest of the hold is
 * released. The worker learns of the end from the `job_ended` notification or its next poll. Writes under its lease are
 * rejected from now on.
 * @throws ApiError  409 when the job has ended
 */
export async function cancelJob(
  runtime: ControlRuntime,
  account: Pick<Account, 'shard' | 'id'>,
  id: string,
  idempotency: IdempotencyHandle = NO_IDEMPOTENCY_KEY,
) {
  const { canceled, answer } = await runtime.db.transaction(async (tx) => {
    const job = await lockOwnJob(tx, account, id);
    if (isTerminal(job.state)) {
      throw new ApiError('conflict', `The job is ${job.state}; only a job that has not ended can be canceled.`);
    }
    const canceled = await cancelLocked(runtime, tx, job);
    // The saved answer contains the job, so it is deleted together with the job.
    await idempotency.bindJob(tx, id);
    return { canceled, answer: await idempotency.saveAnswer(tx, { status: 200, body: showJob(canceled) }) };
  });
  runtime.jobMetrics.jobEnded(canceled);
  const { audioKey } = canceled;
  // After a failure here the janitor erases the audio.
  if (audioKey !== null && runtime.config.audioRetentionHours === 0) {
    await eraseAudio(runtime, [{ ...canceled, audioKey }]).catch(() => undefined);
  }
  return answer;
}

/** Cancels a job that no worker and no client of a live session has begun; does nothing to any other. */
export async function cancelQueuedJob(
  runtime: ControlRuntime,
  { shard, accountId, id }: { shard: number; accountId: string; id: string },
): Promise<void> {
  const canceled = await runtime.db.transaction(async (tx) => {
    const job = await lockJob(tx, { shard, accountId, id });
    return job?.state === 'queued' ? await cancelLocked(runtime, tx, job) : null;
  });
  if (canceled) runtime.jobMetrics.jobEnded(canceled);
}

/**
 * Erases a job: its row, its audio, and the transcript and metadata in its events and in saved answers. A queued job is
 * canceled first. Deliveries that were already sent cannot be recalled.
 * @throws ApiError  409 while the job is being processed: cancel it first
 */
export async function deleteJob(runtime: JobsRuntime, account: Account, id: string): Promise<void> {
  const { canceled, audioKey } = await runtime.db.transaction(async (tx) => {
    const job = await lockOwnJob(tx, account, id);
    if (job.state === 'processing') {
      throw new ApiError('conflict', 'The job is being processed. Cancel it first, or wait for its end.');
    }
    const canceled = isTerminal(job.state) ? null : await cancelLocked(runtime, tx, job);
    await eraseJob(tx, canceled ?? job);
    return { canceled, audioKey: job.audioKey };
  });
  if (canceled !== null) runtime.jobMetrics.jobEnded(canceled);
  // After the commit: the sweep removes a file without a job, but a job without its file would fail.
  if (audioKey !== null) await runtime.storage.remove(audioKey).catch(() => undefined);
}

/** What its account may change of a job. What is absent stays as it is. @property metadata  JSON text; null for none */
export type JobChanges = Partial<Pick<Job, 'metadata' | 'title' | 'tags'>>;

/**
 * Changes a job, in whichever state it is. Events keep the metadata that the job had when it was started.
 * @throws ApiError  404; 429 or 503 where there is no memory for the job as the answer
 */
export async function changeJob(
  db: Database,
  { account, memory }: Pick<Call<unknown, unknown, unknown>, 'account' | 'memory'>,
  id: string,
  changes: JobChanges,
): Promise<Job> {
  const before = await jobOr404(db, account, id, memory);
  const changed = await db.transaction(async (tx) => {
    const job = await lockOwnJob(tx, account, id);
    const changed = { ...job, ...changes };
    await setLabels(tx, changed);
    if (changes.metadata !== undefined || changes.tags) await replacePairs(tx, job, pairsOf(changed));
    return changed;
  });
  // Its end, which writes the text, came in between.
  if (changed.state !== before.state) return await jobOr404(db, account, id);
  return { ...before, ...changed };
}

async function lockOwnJob(tx: Sql, account: Pick<Account, 'shard' | 'id'>, id: string): Promise<JobHead> {
  const job = isId('job', id) ? await lockJob(tx, { shard: account.shard, accountId: account.id, id }) : null;
  if (job === null) throw new ApiError('not_found', 'There is no such job.');
  return job;
}

async function cancelLocked({ config }: ControlRuntime, tx: Sql, job: JobHead): Promise<Job> {
  const rate = creditRates(config)[job.plan];
  const transcribedUnits = job.isLive ? await liveUnits(tx, job, rate) : job.transcribedUnits;
  const costUnits = chargedUnits('canceled', { audioUnits: 0, transcribedUnits });
  return await cancelOpenJob(tx, job, { costUnits, rate, now: null });
}

/** The cost of what a live session has received; no more than is held for it. */
async function liveUnits(tx: Sql, job: JobHead, rate: number): Promise<number> {
  const row = await findLiveSession(tx, job);
  return row === null ? 0 : Math.min(job.heldUnits, costUnits(chargedMsOf(row), rate));
}
