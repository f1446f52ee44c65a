import type { AudioStorage } from '../../audio/storage/storage.ts';
import type { Config } from '../../config/settings.ts';
import { type Database, isDatabaseAway, isRolledBack } from '../../db/database.ts';
import { pickColumns } from '../../db/statements/columns.ts';
import { ApiError } from '../../http/api-error.ts';
import type { Call } from '../../http/route.ts';
import { type Clock, makeId } from '../../platform/clock.ts';
import type { Plan } from '../../rules/accounts/plan.ts';
import { isTerminal } from '../../rules/jobs/job-state.ts';
import { acceptOrder } from '../api/create.ts';
import { permitPlan } from '../api/request.ts';
import { locationOf, permitByEngine } from '../api/transcribe.ts';
import type { UploadAdmission } from '../api/upload-admission.ts';
import { JOB_TABLE, type Job } from '../job.ts';
import { showJob } from '../view.ts';
import { keptAudioKey } from './kept-audio.ts';

export type RetryDeps = {
  db: Database;
  storage: AudioStorage;
  clock: Clock;
  uploads: UploadAdmission;
  config: Pick<Config, 'audioRetentionHours' | 'creditRateLite' | 'creditRatePro' | 'command'>;
};

/**
 * Makes a new job on the audio of a job that has ended, with the same options. The new job has a hold, and a copy of the
 * audio, of its own: erasing one job leaves the other as it is.
 * @param plan  null for the plan of the first job
 * @throws ApiError  402, 403, 409 or 503
 */
export async function retryJob(deps: RetryDeps, call: Call<unknown, unknown, unknown>, job: Job, plan: Plan | null) {
  const { db, storage, config } = deps;
  const { account, idempotency } = call;
  if (!isTerminal(job.state)) {
    throw new ApiError('conflict', `The job is ${job.state}. Wait for its end, or cancel it first.`);
  }
  const request = {
    ...pickColumns(JOB_TABLE.requested, job),
    plan: permitPlan('plan', plan ?? job.plan, account.plan),
  };
  await permitByEngine(deps, request, { translate_to: 'plan', diarize: 'plan' });
  using _admitted = await deps.uploads.admit({ ...call, upload: { ...call.upload, contentLength: job.sizeBytes } });
  const stored = storedAudioOf(job, keptAudioKey(job, config));
  const key = stored && (await storage.copy(stored.key));
  if (!stored || !key) throw new ApiError('conflict', 'The audio of this job is not stored; send it again.');
  const order = {
    ...{ id: makeId('job', deps.clock), account, keyId: call.actor.key!.id, request, idempotency },
    audio: { kind: 'stored' as const, ...stored, key },
    rate: request.plan === 'pro' ? config.creditRatePro : config.creditRateLite,
  };
  try {
    return await db.transaction(async (tx) => {
      await idempotency.bindJob(tx, order.id);
      const made = await acceptOrder(tx, order);
      const headers = { location: locationOf(made) };
      return await idempotency.saveAnswer(tx, { status: 202, body: showJob(made), headers });
    });
  } catch (cause) {
    // As for an upload: the commit may have happened, and the job then needs its audio.
    if (!isDatabaseAway(cause) || isRolledBack(cause)) await storage.remove(key);
    throw cause;
  }
}

/** Null where the audio is erased, or was never fetched and probed. */
function storedAudioOf(job: Job, key: string | null) {
  const { audioSource: source, filename, sizeBytes, format, durationMs, tracks } = job;
  if (key === null || sizeBytes === null || format === null || durationMs === null) return null;
  return { key, source, filename, sizeBytes, format, durationMs, tracks };
}
