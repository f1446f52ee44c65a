import { ApiError } from '../../http/api-error.ts';
import { mayUsePlan, PLANS, type Plan } from '../../rules/accounts/plan.ts';
import type { CaptionOptions } from '../../rules/captions/captions.ts';
import { CAPTION_FIELD_BYTES, readCaptionFields, readCaptionNames } from '../caption-options.ts';
import { AUDIO_URL_FIELD_BYTES, type AudioUrl, readAudioUrl } from '../fetch/audio-url.ts';
import type { RequestedOfJob } from '../job.ts';
import { OPTION_FIELD_BYTES, REPEATED_OPTIONS, readOptions } from '../options.ts';
import { NAME_FIELD_BYTES, REPEATED_NAMES, readNames } from '../request/names.ts';
import { type RequestFields, readBoolean, readChoice, refusal, WORD_BYTES } from '../request-fields.ts';
import { TRANSCRIPT_FORMATS, type TranscriptFormat } from '../transcript.ts';
import { type GivenJobWebhook, JOB_WEBHOOK_FIELD_BYTES, readJobWebhook } from './job-webhook.ts';

/** The validated parameters of a job. */
export type JobRequest = RequestedOfJob & { plan: Plan };

/** A job's parameters, and whether the request is answered before the job ends. */
export type UploadRequest = JobRequest & {
  isAsync: boolean;
  /** Null for audio that is uploaded. */
  audioUrl: AudioUrl | null;
  /** Null or absent: the job has no webhook of its own. */
  webhook?: GivenJobWebhook | null;
  /** Whether the answer needs the words of a job that does not show them; false when absent. */
  readsWords?: boolean;
};

/** The validated fields of POST /v1/transcribe. */
export type TranscribeRequest = UploadRequest & {
  responseFormat: TranscriptFormat;
  /** Null for one caption per segment. */
  captions: CaptionOptions | null;
  captionNames: boolean;
};

type Fields = RequestFields['fields'];

/** The maximum size of metadata, in bytes of UTF-8. */
export const METADATA_BYTES = 4096;

/** The form's fields, with the maximum size of each in bytes of UTF-8. */
export const FIELD_BYTES = {
  ...AUDIO_URL_FIELD_BYTES,
  ...JOB_WEBHOOK_FIELD_BYTES,
  plan: WORD_BYTES,
  async: WORD_BYTES,
  metadata: METADATA_BYTES,
  language: WORD_BYTES,
  timestamps: WORD_BYTES,
  response_format: WORD_BYTES,
  ...NAME_FIELD_BYTES,
  ...OPTION_FIELD_BYTES,
  ...CAPTION_FIELD_BYTES,
} as const;

/** The names of the fields that may be repeated. */
export const LIST_FIELDS: readonly string[] = [...REPEATED_NAMES, ...REPEATED_OPTIONS];

/**
 * The fields that are strings in a JSON body, or lists of them. Metadata is echoed as it was written, which only its
 * own text shows.
 */
export const TEXT_FIELDS = [
  ...['audio_url', 'plan', 'metadata', 'language', 'timestamps', 'response_format'],
  ...['title', 'tags', 'prompt', 'keywords', 'translate_to', 'webhook_url', 'webhook_secret'],
] as const satisfies (keyof typeof FIELD_BYTES)[];

/**
 * Validates the fields as a request of an account on `accountPlan`.
 * @throws ApiError  naming the first field at fault
 */
export function readTranscribeRequest(given: RequestFields, accountPlan: Plan): TranscribeRequest {
  const { fields } = given;
  const isAsync = readBoolean(fields, 'async');
  const responseFormat = readChoice(fields, 'response_format', TRANSCRIPT_FORMATS) ?? 'json';
  if (isAsync && responseFormat !== 'json') {
    throw refusal('response_format', 'response_format must be json when async is true; ask the job for other formats.');
  }
  const webhook = readJobWebhook(fields);
  if (webhook?.secret === null && responseFormat !== 'json') {
    throw refusal('webhook_secret', 'Give a webhook_secret: an answer in this response_format cannot show a new one.');
  }
  const captions = readCaptionFields(fields, responseFormat);
  return {
    ...readJobRequest(given, accountPlan),
    isAsync,
    audioUrl: readAudioUrl(fields),
    webhook,
    responseFormat,
    captions,
    captionNames: readCaptionNames(fields, responseFormat),
    readsWords: captions !== null,
  };
}

/**
 * Validates the fields that every job has, wherever its audio comes from.
 * @throws ApiError  naming the first field at fault
 */
export function readJobRequest(given: RequestFields, accountPlan: Plan): JobRequest {
  const { fields } = given;
  return {
    plan: readPlan(fields, accountPlan),
    metadata: readMetadata(fields),
    ...readNames(given),
    language: readLanguage(fields),
    wordTimes: readChoice(fields, 'timestamps', ['segment', 'word']) === 'word',
    options: readOptions(given),
  };
}

function readPlan(fields: Fields, accountPlan: Plan): Plan {
  return permitPlan('plan', readChoice(fields, 'plan', PLANS) ?? accountPlan, accountPlan);
}

/** @param name  the field that named the plan @throws ApiError  403 */
export function permitPlan(name: string, plan: Plan, accountPlan: Plan): Plan {
  if (mayUsePlan(accountPlan, plan)) return plan;
  throw new ApiError('plan_limit', `This account is on the ${accountPlan} plan; send ${name}=${accountPlan}.`, {
    param: name,
  });
}

/** The text unchanged, so that numbers past 2^53, the order of keys and escapes are kept. */
function readMetadata(fields: Fields): string | null {
  const given = fields.get('metadata');
  if (given === undefined) return null;
  try {
    JSON.parse(given);
    return given;
  } catch (cause) {
    throw refusal('metadata', 'metadata must be JSON text, such as {"order": 7}.', cause);
  }
}

// A primary subtag that has no name is the code of no language; a longer one is a name itself, such as english.
const LANGUAGE_NAMES = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' });
const isLanguage = (subtag: string) => /^[a-z]{2,3}$/.test(subtag) && LANGUAGE_NAMES.of(subtag) !== undefined;

/** Null to detect. @throws ApiError  400 */
export function readLanguage(fields: Fields): string | null {
  const given = fields.get('language');
  if (given === undefined) return null;
  try {
    const [canonical] = Intl.getCanonicalLocales(given);
    if (canonical && canonical.length <= 35 && isLanguage(canonical.split('-', 1)[0]!)) return canonical;
  } catch {
    // Not a language tag: refused below, like one that is too long.
  }
  throw refusal('language', 'language must be a BCP 47 code such as en or pt-BR.');
}
