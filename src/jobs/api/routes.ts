import { memberText } from '#sdk/client/metadata-text.ts';
import { fieldTooLarge } from '../../audio/upload/upload.ts';
import { ApiError } from '../../http/api-error.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { nullable, oneOf, Type } from '../../http/schema.ts';
import { isTerminal } from '../../rules/jobs/job-state.ts';
import { durationMs } from '../../rules/live/encoding.ts';
import { attachment } from '../../rules/network/attachment.ts';
import { findWebhookOfJob } from '../../webhooks/endpoints/job-webhook-store.ts';
import { captionFields, captionNames, captionOptions, namesField } from '../caption-options.ts';
import { titleAsFile } from '../documents/file-names.ts';
import { DOCUMENT_MEDIA } from '../documents/media.ts';
import { TRANSCRIPT_MEDIA, transcriptSchema } from '../documents/transcript-schema.ts';
import { render, renderDocument } from '../edits/render.ts';
import { TRANSCRIPT_VERSIONS, withVersion } from '../edits/shown-version.ts';
import type { Job } from '../job.ts';
import { findLiveSession } from '../live/live-store.ts';
import { jobHeadOr404, jobOr404 } from '../own-job.ts';
import { nameFields, readTags, readTitle, titleSchema } from '../request/names.ts';
import { transcribeForm, transcribeJson } from '../request/schemas.ts';
import { jobSchema } from '../schemas.ts';
import { listRoute } from '../search/list-route.ts';
import { jobStreamSchema } from '../stream/event-schema.ts';
import { answerEvents, subscribeForStream } from '../stream/event-stream.ts';
import { streamJobEvents } from '../stream/job-events.ts';
import { JobWaits, MAX_WAIT_SECONDS } from '../stream/wait.ts';
import { DOCUMENT_FORMATS, FILE_EXTENSIONS, isDocumentFormat, TRANSCRIPT_FORMATS } from '../transcript.ts';
import { showWaitingJob } from '../view.ts';
import { cancelJob, changeJob, deleteJob, type JobChanges } from './control.ts';
import type { JobsApi } from './jobs-api.ts';
import { METADATA_BYTES } from './request.ts';
import { transcribe, VERBATIM_FORMAT } from './transcribe.ts';

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

/** Sending audio, and listing, reading, following, canceling and erasing jobs. */
export function jobRoutes(api: JobsApi): Route[] {
  return [
    transcribeRoute(api),
    listRoute(api),
    readRoute(api),
    changeRoute(api),
    deleteRoute(api),
    cancelRoute(api),
    eventsRoute(api),
    transcriptRoute(api),
  ];
}

function transcribeRoute(api: JobsApi): Route {
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
    handle: (call) => transcribe(api, call as Parameters<typeof transcribe>[1], VERBATIM_FORMAT),
  });
}

function readRoute(api: JobsApi): Route {
  const waits = new JobWaits(api);
  return defineRoute({
    method: 'GET',
    path: '/v1/jobs/:id',
    auth: 'key',
    scope: 'jobs:read',
    summary: 'Read a job',
    tag: 'Transcription',
    schema: { params: jobId, query: Type.Object({ wait: Type.Optional(waitSchema) }), answers: { 200: jobSchema } },
    async handle({ params: { id }, query: { wait = 0 }, ...call }) {
      const job = wait > 0 ? await waits.read(call, id, wait) : await jobOr404(api.db, call.account, id, call.memory);
      return {
        status: 200,
        body: { ...(await showQueued(api, job)), ...(await liveStateOf(api, job)), ...(await webhookOf(api, job)) },
      };
    },
  });
}

/** A job with its position in the queue, and with what it waits for beside its turn. */
async function showQueued({ positions, waits }: JobsApi, job: Job) {
  const [[shown], position] = await Promise.all([waits.addTo([job]), positions.of(job)]);
  return showWaitingJob(shown!, position);
}

/** The URL of the job's own webhook, whose secret is not shown again. */
async function webhookOf({ db }: Pick<JobsApi, 'db'>, { shard, id }: Job) {
  const row = await findWebhookOfJob(db, { shard, jobId: id });
  return row === null ? {} : { webhook_url: row.url };
}

/** Where a live session is that has not ended. */
async function liveStateOf({ db }: Pick<JobsApi, 'db'>, job: Job) {
  const row = job.isLive && !isTerminal(job.state) ? await findLiveSession(db, job) : null;
  if (row === null) return {};
  return { live: { connected: row.isConnected, offset_seconds: durationMs(row.options, row.durableBytes) / 1000 } };
}

function changeRoute(api: JobsApi): Route {
  return defineRoute({
    method: 'PATCH',
    path: '/v1/jobs/:id',
    auth: 'key',
    scope: 'jobs:write',
    summary: 'Change the title, the tags or the metadata of a job',
    description:
      'In whichever state it is. What is left out stays. Events keep the metadata that the job had when it was started; they have no title and no tags.',
    errors: ['too_large'],
    tag: 'Transcription',
    schema: {
      params: jobId,
      body: Type.Object(
        {
          title: Type.Optional(nullable(titleSchema, 'A name of your own for the job: one line. null: none.')),
          tags: nameFields.tags,
          metadata: Type.Optional(
            Type.Unknown({
              description: `Any JSON value, at most ${METADATA_BYTES} bytes as it is written; its text comes back unchanged. null: none.`,
              examples: [{ order: 42 }],
            }),
          ),
        },
        { minProperties: 1 },
      ),
      answers: { 200: jobSchema },
    },
    keepsBodyText: true,
    async handle({ params: { id }, body, bodyText, note, ...call }) {
      const job = await changeJob(api.db, call, id, readChanges(body, bodyText));
      note({ job_id: id });
      return { status: 200, body: await showQueued(api, job) };
    },
  });
}

function readChanges(
  { metadata, title, tags }: { metadata?: unknown; title?: string | null; tags?: string[] },
  bodyText: string,
): JobChanges {
  return {
    ...(metadata !== undefined && { metadata: metadataText(metadata, bodyText) }),
    ...(title !== undefined && { title: title === null ? null : readTitle(title) }),
    ...(tags !== undefined && { tags: readTags(tags) }),
  };
}

function metadataText(metadata: unknown, bodyText: string): string | null {
  // The name may be written with escapes: then numbers with more digits than a double are rounded.
  const text = metadata === null ? null : (memberText(bodyText, 'metadata') ?? JSON.stringify(metadata));
  if (text !== null && Buffer.byteLength(text) > METADATA_BYTES) throw fieldTooLarge('metadata', METADATA_BYTES);
  return text;
}

function deleteRoute(api: JobsApi): Route {
  return defineRoute({
    method: 'DELETE',
    path: '/v1/jobs/:id',
    auth: 'key',
    scope: 'jobs:write',
    event: 'job.deleted',
    summary: 'Erase a job: its transcript, metadata and audio',
    errors: ['conflict'],
    tag: 'Transcription',
    schema: { params: jobId, answers: { 204: null } },
    async handle({ account, params, note }) {
      await deleteJob(api, account, params.id);
      note({ job_id: params.id });
      return { status: 204 };
    },
  });
}

function cancelRoute(api: JobsApi): Route {
  return defineRoute({
    method: 'POST',
    path: '/v1/jobs/:id/cancel',
    auth: 'key',
    scope: 'jobs:write',
    summary: 'Cancel a job that has not ended',
    tag: 'Transcription',
    schema: { params: jobId, answers: { 200: jobSchema } },
    async handle({ account, params, note, idempotency }) {
      const answer = await cancelJob(api, account, params.id, idempotency);
      note({ job_id: params.id });
      return answer;
    },
  });
}

function eventsRoute(api: JobsApi): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/jobs/:id/events',
    auth: 'key',
    scope: 'jobs:read',
    summary: 'Follow a job by server-sent events: status, progress and segment, until it ends',
    tag: 'Transcription',
    schema: { params: jobId, answers: { 200: { media: { 'text/event-stream': jobStreamSchema } } } },
    async handle({ account, params, signal, memory }) {
      const { shard, accountId, id } = await jobHeadOr404(api.db, account, params.id);
      const key = { shard, accountId, id };
      const subscription = subscribeForStream(api.notifications, key);
      const frames = streamJobEvents({ ...api, memory }, key, subscription, signal);
      return answerEvents(frames, subscription, signal);
    },
  });
}

function transcriptRoute({ db, clock }: JobsApi): Route {
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
        format: Type.Optional(oneOf([...TRANSCRIPT_FORMATS, ...DOCUMENT_FORMATS])),
        version: Type.Optional(
          oneOf(TRANSCRIPT_VERSIONS, {
            default: 'edited',
            description: 'edited: the original where nothing was edited.',
          }),
        ),
        ...captionFields,
        speakers: namesField,
      }),
      answers: { 200: { media: { 'application/json': transcriptSchema, ...TRANSCRIPT_MEDIA, ...DOCUMENT_MEDIA } } },
    },
    async handle({ account, params, memory, signal, query }) {
      const { format = 'json', version = 'edited', speakers, ...given } = query;
      const caller = { clock, signal };
      const captions = captionOptions(given, format);
      const asksForNames = isDocumentFormat(format) ? speakers !== 'false' : captionNames(speakers === 'true', format);
      const job = await jobOr404(db, account, params.id, { ...memory, signal, withWords: captions !== null });
      if (job.state !== 'completed') {
        throw new ApiError('conflict', `The job is ${job.state}; only a completed job has a transcript.`);
      }
      const shown = await withVersion(db, caller, job, version);
      const hasNames = asksForNames || (speakers === undefined && shown.speakerNames !== undefined);
      const disposition = attachment(`${job.id}.${FILE_EXTENSIONS[format]}`, titleAsFile(job, FILE_EXTENSIONS[format]));
      const { headers, ...rendered } = isDocumentFormat(format)
        ? await renderDocument(caller, shown, format, { hasNames })
        : await render(caller, shown, format, { shape: captions, hasNames });
      return { status: 200, ...rendered, headers: { ...headers, 'content-disposition': disposition } };
    },
  });
}
