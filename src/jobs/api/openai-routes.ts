import { ApiError } from '../../http/api-error.ts';
import type { Answer, Route } from '../../http/route.ts';
import { defineRoute } from '../../http/route.ts';
import { component, nullable, oneOf, Type } from '../../http/schema.ts';
import type { Plan } from '../../rules/accounts/plan.ts';
import { PLANS } from '../../rules/accounts/plan.ts';
import type { Job } from '../job.ts';
import { OPTION_FIELD_BYTES, optionFormFields, readOptions } from '../options.ts';
import type { RequestFields } from '../request-fields.ts';
import { readBoolean, readChoice, refusal, WORD_BYTES } from '../request-fields.ts';
import { fileSchema, languageSchema, TRANSCRIPT_MEDIA } from '../schemas.ts';
import { renderTranscript } from '../transcript.ts';
import type { UploadRequest } from './request.ts';
import { permitPlan, readLanguage } from './request.ts';
import type { RequestFormat, TranscribeDeps } from './transcribe.ts';
import { locationOf, transcribe } from './transcribe.ts';

const FORMATS = ['json', 'text', 'srt', 'vtt', 'verbose_json'] as const;
const GRANULARITIES = ['segment', 'word'] as const;
const RETRY_SECONDS = 30;
const IGNORED_BYTES = 64 * 1024;

// Fields of that API without a meaning here. They are accepted and ignored, so that its clients need no change.
const IGNORED = [
  'temperature',
  'include[]',
  'known_speaker_names[]',
  'known_speaker_references[]',
  'chunking_strategy',
  'chunking_strategy[type]',
  'chunking_strategy[threshold]',
  'chunking_strategy[prefix_padding_ms]',
  'chunking_strategy[silence_duration_ms]',
];
const GRANULARITY_FIELD = 'timestamp_granularities[]';
const KEYWORDS_FIELD = 'keywords[]';
const LIST_FIELDS = [
  GRANULARITY_FIELD,
  KEYWORDS_FIELD,
  'include[]',
  'known_speaker_names[]',
  'known_speaker_references[]',
];

// For the API reference; `readRequest` reads the fields.
const formSchema = Type.Object({
  file: fileSchema,
  model: Type.Optional(
    Type.String({ description: '`lite` or `pro` name a plan, any other is the plan of the account.' }),
  ),
  language: Type.Optional(languageSchema),
  response_format: Type.Optional(oneOf(FORMATS)),
  [GRANULARITY_FIELD]: Type.Optional(Type.Array(oneOf(GRANULARITIES), { description: 'With verbose_json.' })),
  prompt: optionFormFields.prompt,
  [KEYWORDS_FIELD]: optionFormFields.keywords,
});

const answerSchema = Type.Object(
  {
    text: nullable(Type.String()),
    usage: Type.Object({ type: Type.Literal('duration'), seconds: Type.Integer({ minimum: 0 }) }),
    task: Type.Optional(Type.Literal('transcribe')),
    language: Type.Optional(Type.String({ description: 'In English, such as english.' })),
    duration: Type.Optional(Type.Number({ minimum: 0, description: 'Seconds.' })),
    segments: Type.Optional(Type.Array(Type.Unknown())),
    words: Type.Optional(Type.Array(Type.Object({ word: Type.String(), start: Type.Number(), end: Type.Number() }))),
  },
  component('OpenAiTranscription', undefined, 'More than text and usage only with verbose_json.'),
);

type OpenAiRequest = UploadRequest & {
  format: (typeof FORMATS)[number];
  granularities: readonly (typeof GRANULARITIES)[number][];
};

type StoredPart = { start: number; end: number; text: string; confidence: number | null };
type StoredSegment = StoredPart & { words?: StoredPart[] };

/** The speech-to-text request and answer of OpenAI's API, so that its clients work with a changed base URL. */
export function openAiRoute(deps: TranscribeDeps): Route {
  return defineRoute({
    method: 'POST',
    path: '/v1/audio/transcriptions',
    auth: 'key',
    scope: 'jobs:write',
    bucket: 'transcribe',
    upload: true,
    summary: "Transcribe audio by the OpenAI API's request and answer",
    errors: ['insufficient_balance', 'plan_limit', 'unprocessable_audio'],
    tag: 'Transcription',
    schema: {
      body: formSchema,
      answers: { 200: { media: { 'application/json': answerSchema, ...TRANSCRIPT_MEDIA } } },
    },
    handle: (call) => transcribe(deps, call, OPENAI_FORMAT),
  });
}

const OPENAI_FORMAT: RequestFormat<OpenAiRequest, Answer & { status: 200 }> = {
  fieldBytes: {
    model: WORD_BYTES,
    language: WORD_BYTES,
    response_format: WORD_BYTES,
    stream: WORD_BYTES,
    [GRANULARITY_FIELD]: WORD_BYTES,
    prompt: OPTION_FIELD_BYTES.prompt,
    [KEYWORDS_FIELD]: OPTION_FIELD_BYTES.keywords,
    ...Object.fromEntries(IGNORED.map((name) => [name, IGNORED_BYTES])),
  },
  listFields: LIST_FIELDS,
  readRequest({ fields, lists }, accountPlan) {
    if (readBoolean(fields, 'stream')) {
      throw refusal('stream', 'stream is not offered here; leave it out, or follow a job at /v1/jobs/:id/events.');
    }
    const format = readChoice(fields, 'response_format', FORMATS) ?? 'json';
    const granularities = readGranularities(lists);
    return {
      plan: readModel(fields, accountPlan),
      isAsync: false,
      metadata: null,
      // Some clients send an empty language to have it detected.
      language: fields.get('language') === '' ? null : readLanguage(fields),
      wordTimes: format === 'verbose_json' && granularities.includes('word'),
      options: readContext({ fields, lists }),
      format,
      granularities,
    };
  },
  answerCompleted(job, request) {
    return { status: 200, ...renderAs(job, request), headers: { location: locationOf(job) } };
  },
  answerOpen(job) {
    throw new ApiError('unavailable', `The job ${job.id} goes on; read it at ${locationOf(job)}.`, {
      extra: { job_id: job.id, retry_after: RETRY_SECONDS },
      // Without this header that API's clients send the request again, which would make and charge a second job.
      headers: { 'retry-after': String(RETRY_SECONDS), 'x-should-retry': 'false', location: locationOf(job) },
    });
  },
};

/** The options that the OpenAI API has too. Some clients send an empty prompt. */
function readContext({ fields, lists }: RequestFields) {
  const prompt = fields.get('prompt') || null;
  const keywords = lists.get(KEYWORDS_FIELD) ?? null;
  return readOptions({
    fields: new Map(prompt === null ? [] : [['prompt', prompt]]),
    lists: new Map(keywords === null ? [] : [['keywords', keywords]]),
  });
}

/** `lite` and `pro` name a plan; every other model is the account's. */
function readModel(fields: RequestFields['fields'], accountPlan: Plan): Plan {
  const plan = PLANS.find((known) => known === fields.get('model')) ?? accountPlan;
  return permitPlan('model', plan, accountPlan);
}

function readGranularities(lists: RequestFields['lists']): OpenAiRequest['granularities'] {
  const given = lists.get(GRANULARITY_FIELD) ?? ['segment'];
  return given.map((value) => {
    const known = GRANULARITIES.find((granularity) => granularity === value);
    if (known) return known;
    throw refusal('timestamp_granularities', `timestamp_granularities[] must be ${GRANULARITIES.join(' or ')}.`);
  });
}

function renderAs(job: Job, request: OpenAiRequest): Pick<Answer, 'body' | 'contentType'> {
  const usage = { type: 'duration', seconds: Math.ceil(job.durationMs / 1000) };
  switch (request.format) {
    case 'json':
      return { body: { text: job.transcript, usage } };
    case 'verbose_json':
      return { body: { ...verbose(job, request), usage } };
    default:
      return renderTranscript(job, request.format);
  }
}

function verbose(job: Job, { granularities }: OpenAiRequest) {
  const segments = JSON.parse(job.segments ?? '[]') as StoredSegment[];
  const words = segments.flatMap((segment) => segment.words ?? []);
  return {
    task: 'transcribe',
    language: languageName(job.detectedLanguage ?? job.language),
    duration: job.durationMs / 1000,
    text: job.transcript,
    ...(granularities.includes('segment') && { segments: segments.map(showSegment) }),
    ...(granularities.includes('word') && {
      words: words.map(({ text, start, end }) => ({ word: text, start, end })),
    }),
  };
}

/** Fields that no engine here can fill have neutral values, for clients that require them. */
function showSegment({ start, end, text, confidence }: StoredSegment, id: number) {
  const logProbability = confidence === null ? 0 : Math.log(Math.max(confidence, Number.EPSILON));
  return {
    id,
    seek: 0,
    start,
    end,
    text,
    tokens: [],
    temperature: 0,
    avg_logprob: logProbability,
    compression_ratio: 1,
    no_speech_prob: 0,
  };
}

/** That API names languages in English: `english` for en. */
function languageName(code: string | null): string {
  if (code === null) return 'unknown';
  const names = new Intl.DisplayNames(['en'], { type: 'language' });
  return (names.of(code) ?? code).toLowerCase();
}
