import { ApiError } from '../../http/api-error.ts';
import { type Answer, defineRoute, type Route } from '../../http/route.ts';
import type { JobsApi } from '../api/jobs-api.ts';
import { locationOf, type RequestFormat, transcribe } from '../api/transcribe.ts';
import { TRANSCRIPT_MEDIA } from '../documents/transcript-schema.ts';
import type { Job } from '../job.ts';
import { openAiAnswerSchema, renderOpenAi } from './answer.ts';
import { modelRoutes } from './models.ts';
import {
  type OpenAiRequest,
  readTranscriptionRequest,
  readTranslationRequest,
  TRANSCRIPTION_FIELDS,
  TRANSLATION_FIELDS,
  transcriptionForm,
  translationForm,
} from './request.ts';
import { openAiStreamSchema, openTextStream } from './stream.ts';

const RETRY_SECONDS = 30;

/** The speech endpoints of OpenAI's API, so that its clients work with a changed base URL. */
export function openAiRoutes(api: JobsApi): Route[] {
  return [transcriptionRoute(api), translationRoute(api), ...modelRoutes(api)];
}

const COMMON = {
  method: 'POST',
  auth: 'key',
  scope: 'jobs:write',
  bucket: 'transcribe',
  upload: true,
  errors: ['insufficient_balance', 'plan_limit', 'unprocessable_audio'],
  tag: 'OpenAI',
} as const;
const ANSWER_MEDIA = { 'application/json': openAiAnswerSchema, ...TRANSCRIPT_MEDIA };

function transcriptionRoute(api: JobsApi): Route {
  const format: OpenAiFormat = {
    ...TRANSCRIPTION_FIELDS,
    ...ANSWERS,
    joinsRepeatsOf: 'transcriptions',
    readRequest: readTranscriptionRequest,
    openEarly: (request, key, call) => (request.isStream ? openTextStream(api, key, call, request.format) : null),
  };
  return defineRoute({
    ...COMMON,
    path: '/v1/audio/transcriptions',
    summary: "Transcribe audio by the OpenAI API's request and answer",
    schema: {
      body: transcriptionForm,
      answers: { 200: { media: { ...ANSWER_MEDIA, 'text/event-stream': openAiStreamSchema } } },
    },
    handle: (call) => transcribe(api, call, format),
  });
}

function translationRoute(api: JobsApi): Route {
  const format: OpenAiFormat = {
    ...TRANSLATION_FIELDS,
    ...ANSWERS,
    joinsRepeatsOf: 'translations',
    readRequest: readTranslationRequest,
  };
  return defineRoute({
    ...COMMON,
    path: '/v1/audio/translations',
    summary: "Translate speech into English by the OpenAI API's request and answer",
    description: 'Answered 400 where the engine of the plan cannot translate (`features` of GET /v1/models).',
    schema: { body: translationForm, answers: { 200: { media: ANSWER_MEDIA } } },
    handle: (call) => transcribe(api, call, format),
  });
}

type OpenAiFormat = RequestFormat<OpenAiRequest, Answer & { status: 200 }>;

const ANSWERS: Pick<OpenAiFormat, 'optionFields' | 'planField' | 'answerCompleted' | 'answerOpen'> = {
  optionFields: { translate_to: 'model', diarize: 'response_format' },
  planField: 'model',
  answerCompleted: (job, request) => ({
    status: 200,
    ...renderOpenAi(job, request),
    headers: { location: locationOf(job) },
  }),
  answerOpen,
};

function answerOpen(job: Job): never {
  throw new ApiError('unavailable', `The job ${job.id} goes on; read it at ${locationOf(job)}.`, {
    extra: { job_id: job.id, retry_after: RETRY_SECONDS },
    // Without this header that API's clients send the request again, which would make and charge a second job.
    headers: { 'retry-after': String(RETRY_SECONDS), 'x-should-retry': 'false', location: locationOf(job) },
  });
}
