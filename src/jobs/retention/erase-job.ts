import type { Sql } from '../../db/database.ts';
import { deleteAnswersOfJob } from '../../http/idempotency/idempotency-store.ts';
import { dropWaitingOfJob } from '../../webhooks/deliveries/drop-store.ts';
import { deleteWebhookOfJob, lockWebhookOfJob } from '../../webhooks/endpoints/job-webhook-store.ts';
import { eraseEvents } from '../../webhooks/events/erase.ts';
import type { Job, JobHead } from '../job.ts';
import { showJobInEvent } from '../view.ts';
import { deleteEndedJob } from './retention-store.ts';

/**
 * Erases a job that has ended, in the transaction that has locked it: its row, its own webhook, its words in the search
 * index, and the transcript and metadata in its events and in saved answers. Deliveries that still wait are dropped.
 * The caller removes the audio after the commit: the sweep removes a file without a job, but a job without its file
 * would fail.
 */
export async function eraseJob(tx: Sql, job: JobHead): Promise<void> {
  const { shard, id: jobId } = job;
  await lockWebhookOfJob(tx, { shard, jobId });
  await dropWaitingOfJob(tx, { shard, jobId });
  await eraseEvents(tx, { shard, jobId, job: { ...showJobInEvent(erased(job)), deleted: true } });
  await deleteWebhookOfJob(tx, { shard, jobId });
  await deleteAnswersOfJob(tx, { shard, jobId });
  await deleteEndedJob(tx, job);
}

/** The part of an erased job that its events keep. */
function erased(job: JobHead): Job {
  return {
    ...job,
    filename: null,
    tracks: [],
    audioSource: null,
    options: {},
    metadata: null,
    title: null,
    tags: [],
    transcript: null,
    segments: null,
  };
}
