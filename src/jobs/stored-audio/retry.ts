import { creditRates } from '../../config/rates.ts';
import { isDatabaseAway, isRolledBack } from '../../db/database.ts';
import { pickColumns } from '../../db/statements/columns.ts';
import { ApiError } from '../../http/api-error.ts';
import type { Call } from '../../http/route.ts';
import { makeId } from '../../platform/clock.ts';
import type { Plan } from '../../rules/accounts/plan.ts';
import { isTerminal } from '../../rules/jobs/job-state.ts';
import { acceptOrder } from '../api/create.ts';
import type { JobsApi } from '../api/jobs-api.ts';
import { permitPlan } from '../api/request.ts';
import { locationOf, permitByEngine } from '../api/transcribe.ts';
import { JOB_TABLE, type JobHead } from '../job.ts';
import { showJob } from '../view.ts';
import { keptAudioKey } from './kept-audio.ts';

/**
 * Makes a new job on the audio of a job that has ended, with the same options. The new job has a hold, and a copy of
 * the audio, of its own: erasing one job leaves the other as it is.
 * @param plan  null for the plan of the first job
 * @throws ApiError  401, 402, 403, 409 or 503
 */
export async function retryJob(api: JobsApi, call: Call<unknown, unknown, unknown>, job: JobHead, plan: Plan | null) {
  const { db, storage, config } = api;
  const { account, idempotency } = call;
  if (!isTerminal(job.state)) {
    throw new ApiError('conflict', `The job is ${job.state}. Wait until it has ended, or cancel it first.`);
  }
  const request = {
    ...pickColumns(JOB_TABLE.requested, job),
    plan: permitPlan('plan', plan ?? job.plan, account.plan),
  };
  await permitByEngine(api, request, { translate_to: 'plan', diarize: 'plan' });
  using _admitted = await api.uploads.admit({ ...call, upload: { ...call.upload, contentLength: job.sizeBytes } });
  const stored = storedAudioOf(job, keptAudioKey(job, config));
  const key = stored && (await storage.copy(stored.key));
  if (!stored || !key) throw new ApiError('conflict', 'The audio of this job is not stored; send it again.');
  const order = {
    id: makeId('job', api.clock),
    account,
    keyId: call.actor.key!.id,
    traceparent: call.actor.traceparent ?? null,
    request,
    idempotency,
    audio: { kind: 'stored' as const, ...stored, key },
    rate: creditRates(config)[request.plan],
  };
  try {
    // To copy audio within a bucket may take a while.
    await call.checkCaller();
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
export function storedAudioOf(job: JobHead, key: string | null) {
  const { audioSource: source, filename, sizeBytes, format, durationMs, tracks } = job;
  if (key === null || sizeBytes === null || format === null || durationMs === null) return null;
  return { key, source, filename, sizeBytes, format, durationMs, tracks };
}
