import type { StorageRuntime } from '../../audio/storage/storage.ts';
import type { StoredFile } from '../../audio/upload/upload.ts';
import { type Database, isDatabaseAway, isRolledBack } from '../../db/database.ts';
import { type ApiError, unavailable } from '../../http/api-error.ts';
import type { Call } from '../../http/route.ts';
import { isTerminal } from '../../rules/jobs/job-state.ts';
import type { Job } from '../job.ts';
import { findJob } from '../store.ts';
import { failureOf } from '../view.ts';
import { replaceAudio } from './accept-store.ts';

/**
 * The job of an earlier request with the same Idempotency-Key, which was not answered. Null when the job was deleted,
 * or failed by a fault of the service: the audio is then transcribed again.
 * @throws ApiError  429 or 503 where there is no memory for the job as the answer
 */
export async function findResumable(
  { db }: StorageRuntime,
  { account, memory }: Pick<Call<unknown, unknown, unknown>, 'account' | 'memory'>,
  id: string,
): Promise<Job | null> {
  const job = await findJob(db, { shard: account.shard, accountId: account.id, id }, memory);
  return job?.state === 'failed' && failureOf(job).type === 'internal' ? null : job;
}

/**
 * Keeps one of the two uploads of a job: that of the earlier request, or the new one where a power failure left the
 * earlier one incomplete. Once it resolves, the audio of a job that has not ended is durable.
 * @param file  of the repeated request; null for audio from a URL
 * @throws ApiError  503 while a transcriber reads the incomplete audio: the job is about to fail
 */
export async function keepOneAudio(
  { db, storage }: StorageRuntime,
  { job, file }: { job: Job; file: StoredFile | null },
): Promise<void> {
  if (file === null) return;
  let unused: string | null = file.key;
  try {
    if (isTerminal(job.state) || (await storage.isComplete(job.audioKey!, file.sizeBytes))) return;
    await file.durable;
    unused = await replacedAudio(db, job, file);
    if (unused === file.key) throw aboutToFail();
  } catch (cause) {
    // A commit whose answer was lost may have happened;
    // the job then needs the audio. If not, the sweep removes the file.
    if (isDatabaseAway(cause) && !isRolledBack(cause)) unused = null;
    throw cause;
  } finally {
    if (unused !== null) await storage.remove(unused);
  }
}

/** The key of the audio that the job does not have now. */
async function replacedAudio(db: Database, job: Job, file: StoredFile): Promise<string> {
  return (await replaceAudio(db, job, file.key)) ? job.audioKey! : file.key;
}

function aboutToFail(): ApiError {
  return unavailable('The audio of the first request was lost. Send the request again in a moment.', 1);
}
