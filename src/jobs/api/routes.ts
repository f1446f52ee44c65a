import os from 'node:os';
import { memberText } from '#sdk/client/metadata-text.ts';
import { fieldTooLarge } from '../../audio/upload/upload.ts';
import type { Config } from '../../config/settings.ts';
import type { Lookup } from '../../egress/dns/lookup.ts';
import { ApiError } from '../../http/api-error.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { oneOf, Type } from '../../http/schema.ts';
import { openFairSemaphore } from '../../platform/fair-semaphore.ts';
import type { SecretBox } from '../../webhooks/secrets/secrets.ts';
import { captionFields, captionNames, captionOptions, namesField } from '../caption-options.ts';
import { TRANSCRIPT_VERSIONS, withVersion } from '../edits/edited-transcript.ts';
import { openAudioUrlGuard } from '../fetch/audio-url.ts';
import type { JobMetrics } from '../job.ts';
import { jobOr404 } from '../own-job.ts';
import { openQueuePositions, type QueuePositions } from '../queue/queue-position.ts';
import {
  jobSchema,
  jobStreamSchema,
  TRANSCRIPT_MEDIA,
  transcribeForm,
  transcribeJson,
  transcriptSchema,
} from '../schemas.ts';
import { listRoute } from '../search/list-route.ts';
import { answerEvents, subscribeForStream } from '../stream/event-stream.ts';
import { streamJobEvents } from '../stream/job-events.ts';
import type { JobNotifications } from '../stream/job-notifications.ts';
import { renderTranscript, TRANSCRIPT_FORMATS } from '../transcript.ts';
import { showWaitingJob } from '../view.ts';
import { cancelJob, changeMetadata, deleteJob } from './control.ts';
import { JobWebhooks } from './job-webhook.ts';
import { METADATA_BYTES } from './request.ts';
import { type TranscribeDeps, transcribe, VERBATIM_FORMAT } from './transcribe.ts';
import { openUploadAdmission } from './upload-admission.ts';
import { JobWaits, MAX_WAIT_SECONDS } from './wait.ts';

type UploadGuards = Pick<TranscribeDeps, 'probes' | 'uploads' | 'audioUrls' | 'jobWebhooks'>;

export type JobRoutesDeps = Omit<TranscribeDeps, 'config' | keyof UploadGuards> & {
  config: TranscribeDeps['config'] &
    Pick<
      Config,
      | 'maxQueuedJobs'
      | 'maxUploadsPerAccount'
      | 'audioRetentionHours'
      | 'audioUrl'
      | 'audioUrlAllowedTargets'
      | 'jobWebhooks'
      | 'webhookAllowedTargets'
    >;
  /** Encrypts URLs and headers of audio that is to be fetched, and the secrets of jobs' webhooks. */
  secretBox: Pick<SecretBox, 'seal' | 'open'>;
  /** Resolves the names in `audio_url` and `webhook_url`. */
  lookup?: Lookup;
  notifications: JobNotifications;
  /** Counts the jobs that are canceled. */
  metrics?: JobMetrics;
};

const EXTENSIONS = { json: 'json', text: 'txt', srt: 'srt', vtt: 'vtt' } as const;
const jobId = Type.Object({ id: Type.String({ description: 'job_…' }) });

const waitSchema = Type.Number({
  minimum: 0,
  maximum: MAX_WAIT_SECONDS,
  description: 'Seconds: the answer comes when the job has ended, or after this time with the job as it is then.',
});

const ownJob = { id: '$response.body#/id' };
const JOB_LINKS = {
  get_jobs_id: ownJob,
  patch_jobs_id: ownJob,
  get_jobs_id_transcript: ownJob,
  post_jobs_id_cancel: ownJob,
  delete_jobs_id: ownJob,
};

/** The limits of uploads and the guard of URLs, which all upload endpoints share. */
export function openUploadLimits(deps: JobRoutesDeps): UploadGuards {
  const cores = os.availableParallelism();
  return {
    probes: openFairSemaphore({ permits: 2 * cores, perOwner: cores }),
    uploads: openUploadAdmission(deps),
    audioUrls: openAudioUrlGuard(deps),
    jobWebhooks: new JobWebhooks(deps),
  };
}

/** Sending audio, and listing, reading, following, canceling and erasing jobs. */
export function jobRoutes(deps: JobRoutesDeps & TranscribeDeps): Route[] {
  const positions = openQueuePositions(deps);
  return [
    transcribeRoute(deps),
    listRoute(deps),
    readRoute(deps, positions, new JobWaits(deps)),
    changeRoute(deps, positions),
    deleteRoute(deps),
    cancelRoute(deps),
    eventsRoute(deps, positions),
    transcriptRoute(deps),
  ];
}

function transcribeRoute(deps: TranscribeDeps): Route {
  return defineRoute({
    method: 'POST',
    path: '/v1/transcribe',
    auth: 'key',
    scope: 'jobs:write',
    bucket: 'transcribe',
    upload: true,
    takesRawAudio: true,
    summary: 'Transcribe audio, at once or as a job',
    description: 'A body of `Content-Type: audio/*` is the file itself; its fields stand in the query.',
    errors: ['forbidden_url', 'insufficient_balance', 'plan_limit', 'unprocessable_audio', 'audio_fetch_failed'],
    links: JOB_LINKS,
    tag: 'Transcription',
    schema: {
      body: transcribeForm,
      jsonBody: transcribeJson,
      answers: { 200: { media: { 'application/json': jobSchema, ...TRANSCRIPT_MEDIA } }, 202: jobSchema },
    },
    handle: (call) => transcribe(deps, call as Parameters<typeof transcribe>[1], VERBATIM_FORMAT),
  });
}

function readRoute({ db }: JobRoutesDeps, positions: QueuePositions, waits: JobWaits): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/jobs/:id',
    auth: 'key',
    scope: 'jobs:read',
    summary: 'Read a job',
    tag: 'Transcription',
    schema: { params: jobId, query: Type.Object({ wait: Type.Optional(waitSchema) }), answers: { 200: jobSchema } },
    async handle({ account, params: { id }, query: { wait = 0 }, signal }) {
      const job = wait > 0 ? await waits.read(account, id, wait, signal) : await jobOr404(db, account, id);
      return { status: 200, body: showWaitingJob(job, await positions.of(job)) };
    },
  });
}

function changeRoute({ db }: JobRoutesDeps, positions: QueuePositions): Route {
  return defineRoute({
    method: 'PATCH',
    path: '/v1/jobs/:id',
    auth: 'key',
    scope: 'jobs:write',
    summary: 'Replace the metadata of a job',
    description: 'In whichever state it is. Events keep the metadata that the job had when it was started.',
    errors: ['too_large'],
    tag: 'Transcription',
    schema: {
      params: jobId,
      body: Type.Object({
        metadata: Type.Unknown({
          description: `Any JSON value, at most ${METADATA_BYTES} bytes as it is written; its text comes back unchanged. null: none.`,
          examples: [{ order: 42 }],
        }),
      }),
      answers: { 200: jobSchema },
    },
    keepsBodyText: true,
    async handle({ account, params: { id }, body, bodyText, note }) {
      // The name may be written with escapes: then numbers with more digits than a double are rounded.
      const text = body.metadata === null ? null : (memberText(bodyText, 'metadata') ?? JSON.stringify(body.metadata));
      if (text !== null && Buffer.byteLength(text) > METADATA_BYTES) throw fieldTooLarge('metadata', METADATA_BYTES);
      const job = await changeMetadata({ db }, account, id, text);
      note({ job_id: id });
      return { status: 200, body: showWaitingJob(job, await positions.of(job)) };
    },
  });
}

function deleteRoute(deps: JobRoutesDeps): Route {
  return defineRoute({
    method: 'DELETE',
    path: '/v1/jobs/:id',
    auth: 'key',
    scope: 'jobs:write',
    summary: 'Erase a job: its transcript, metadata and audio',
    errors: ['conflict'],
    tag: 'Transcription',
    schema: { params: jobId, answers: { 204: null } },
    async handle({ account, params, note }) {
      await deleteJob(deps, account, params.id);
      note({ job_id: params.id });
      return { status: 204 };
    },
  });
}

function cancelRoute(deps: JobRoutesDeps): Route {
  return defineRoute({
    method: 'POST',
    path: '/v1/jobs/:id/cancel',
    auth: 'key',
    scope: 'jobs:write',
    summary: 'Cancel a job that has not ended',
    tag: 'Transcription',
    schema: { params: jobId, answers: { 200: jobSchema } },
    async handle({ account, params, note, idempotency }) {
      const answer = await cancelJob(deps, account, params.id, idempotency);
      note({ job_id: params.id });
      return answer;
    },
  });
}

function eventsRoute(deps: JobRoutesDeps, positions: QueuePositions): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/jobs/:id/events',
    auth: 'key',
    scope: 'jobs:read',
    summary: 'Follow a job by server-sent events: status, progress and segment, until it ends',
    tag: 'Transcription',
    schema: { params: jobId, answers: { 200: { media: { 'text/event-stream': jobStreamSchema } } } },
    async handle({ account, params, signal }) {
      const { shard, accountId, id } = await jobOr404(deps.db, account, params.id);
      const key = { shard, accountId, id };
      const subscription = subscribeForStream(deps.notifications, key);
      const frames = streamJobEvents({ ...deps, positions }, key, subscription, signal);
      return answerEvents(frames, subscription, signal);
    },
  });
}

function transcriptRoute({ db }: JobRoutesDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/jobs/:id/transcript',
    auth: 'key',
    scope: 'jobs:read',
    summary: "Read a completed job's transcript as a file",
    errors: ['conflict'],
    tag: 'Transcription',
    schema: {
      params: jobId,
      query: Type.Object({
        format: Type.Optional(oneOf(TRANSCRIPT_FORMATS)),
        version: Type.Optional(
          oneOf(TRANSCRIPT_VERSIONS, {
            default: 'edited',
            description: 'edited: the original where nothing was edited.',
          }),
        ),
        ...captionFields,
        speakers: namesField,
      }),
      answers: { 200: { media: { 'application/json': transcriptSchema, ...TRANSCRIPT_MEDIA } } },
    },
    async handle({ account, params, query: { format = 'json', version = 'edited', speakers, ...given } }) {
      const captions = captionOptions(given, format);
      const asksForNames = captionNames(speakers === 'true', format);
      const job = await jobOr404(db, account, params.id, { withWords: captions !== null });
      if (job.state !== 'completed') {
        throw new ApiError('conflict', `The job is ${job.state}; only a completed job has a transcript.`);
      }
      const shown = await withVersion(db, job, version);
      const hasNames = asksForNames || (speakers === undefined && shown.speakerNames !== undefined);
      const disposition = `attachment; filename="${job.id}.${EXTENSIONS[format]}"`;
      return {
        status: 200,
        ...renderTranscript(shown, format, { shape: captions, hasNames }),
        headers: { 'content-disposition': disposition },
      };
    },
  });
}
