import { FILE_FIELD } from '../audio/upload/upload.ts';
import { ApiError } from '../http/api-error.ts';
import type { Static } from '../http/schema.ts';
import { RawJson } from '../platform/json.ts';
import { channelsOf } from '../rules/channels/audio-tracks.ts';
import { creditsFromUnits } from '../rules/jobs/price.ts';
import type { Job } from './job.ts';
import type { ShownOptions } from './options.ts';
import type { jobInListSchema, jobSchema } from './schemas.ts';
import { MAX_LIST_TEXT_CHARS } from './store.ts';
import { spokenLanguage, translatedTo } from './transcript.ts';

/**
 * A job as the API shows it, with its segments.
 * Serialise it with `writeJson`, which keeps metadata unchanged.
 */
export function showJob(job: Job): Static<typeof jobSchema> {
  const { segments, ...rest } = partsOf(job);
  return { ...rest.head, segments, ...rest.tail };
}

/** A job in the body of an event: receivers are told what was made, not how it is named later. */
export function showJobInEvent(job: Job): Omit<Static<typeof jobSchema>, 'title' | 'tags'> {
  const { title: _title, tags: _tags, ...shown } = showJob(job);
  return shown;
}

/**
 * A job with its position in the queue.
 * @param queuePosition  1 for the next job to start; null for a job that is not queued
 */
export function showWaitingJob(job: Job, queuePosition: number | null): Static<typeof jobSchema> {
  return { ...showJob(job), ...(queuePosition !== null && { queue_position: queuePosition }) };
}

/** A job as lists show it: without segments, and with the beginning of its text. */
export function showJobInList(job: Job): Static<typeof jobInListSchema> {
  const { head, tail } = partsOf(job);
  const text = job.transcript === null ? null : firstCharacters(job.transcript, MAX_LIST_TEXT_CHARS);
  return { ...head, text, ...(text !== job.transcript && { text_cut: true as const }), ...tail };
}

function firstCharacters(text: string, count: number): string {
  // A character takes one or two code units.
  return text.length <= count ? text : [...text.slice(0, 2 * count)].slice(0, count).join('');
}

/** The fields in the order of the contract, before and after the segments. */
function partsOf(job: Job) {
  return {
    head: {
      id: job.id,
      status: job.state,
      waiting_for: job.wait?.waitingFor ?? null,
      ...(job.wait && { waiting_since: job.wait.since.toISOString() }),
      plan: job.plan,
      model: job.model,
      language: spokenLanguage(job),
      translated_to: translatedTo(job),
      audio: {
        filename: job.filename,
        format: job.format,
        duration_seconds: job.durationMs === null ? null : job.durationMs / 1000,
        size_bytes: job.sizeBytes,
        source: job.audioSource,
        channels: channelsOf(job.tracks, job.options.audio_track ?? null),
        tracks: job.tracks,
      },
      title: job.title,
      tags: job.tags,
      metadata: rawOrNull(job.metadata),
      options: shownOptions(job),
      text: job.transcript,
    },
    segments: rawOrNull(job.segments),
    tail: {
      speakers: job.speakers,
      warnings: job.warnings,
      error: showError(job),
      cost: job.costUnits === null ? null : creditsFromUnits(job.costUnits),
      progress: job.progress,
      created_at: job.createdAt.toISOString(),
      started_at: job.startedAt?.toISOString() ?? null,
      completed_at: job.completedAt?.toISOString() ?? null,
      expires_at: job.expiresAt?.toISOString() ?? null,
    },
  };
}

function shownOptions({ language, wordTimes, options }: Job): ShownOptions {
  return { ...(language !== null && { language }), ...(wordTimes && { timestamps: 'word' }), ...options };
}

/** Why a job failed; null for other jobs. */
export function showError(job: Job) {
  if (job.errorType === null) return null;
  return {
    type: job.errorType,
    message: job.errorMessage ?? '',
    ...(job.errorReason !== null && { reason: job.errorReason }),
    ...(job.errorHttpStatus !== null && { http_status: job.errorHttpStatus }),
  };
}

/** The job's own webhook: its URL, and its secret where the service has made it and this answer shows it. */
export type ShownWebhook = { webhook_url?: string; webhook_secret?: string };

/** The error that answers for a job that failed or was canceled. */
export function failureOf(job: Job, { webhook_secret }: ShownWebhook = {}): ApiError {
  const extra = { job_id: job.id, ...(webhook_secret !== undefined && { webhook_secret }) };
  const error = showError(job);
  if (error === null) return new ApiError('conflict', 'The job was canceled.', { extra });
  const { type, message, ...reason } = error;
  const isOfService = type === 'engine_error' || type === 'engine_timeout';
  const isOfAudio = type === 'unprocessable_audio' || type === 'audio_fetch_failed';
  const param = isOfAudio && { param: job.audioSource === null ? FILE_FIELD : 'audio_url' };
  return new ApiError(isOfService ? 'internal' : type, message, { ...param, extra: { ...extra, ...reason } });
}

function rawOrNull(text: string | null): RawJson | null {
  return text === null ? null : new RawJson(text);
}
