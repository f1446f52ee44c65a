import { oneOf, Type } from '../../http/schema.ts';
import { PLANS, type Plan } from '../../rules/accounts/plan.ts';
import { permitPlan, readLanguage, type UploadRequest } from '../api/request.ts';
import { NOTHING_REQUESTED } from '../job.ts';
import { OPTION_FIELD_BYTES, optionFormFields, readOptions } from '../options.ts';
import { type RequestFields, readBoolean, readChoice, refusal, WORD_BYTES } from '../request-fields.ts';
import { fileSchema, languageSchema } from '../schemas.ts';

const TRANSLATION_FORMATS = ['json', 'text', 'srt', 'vtt', 'verbose_json'] as const;
const FORMATS = [...TRANSLATION_FORMATS, 'diarized_json'] as const;
const STREAMED_FORMATS: readonly string[] = ['json', 'text', 'diarized_json'];
const GRANULARITIES = ['segment', 'word'] as const;

const GRANULARITY_FIELD = 'timestamp_granularities[]';
const KEYWORDS_FIELD = 'keywords[]';
const LANGUAGES_FIELD = 'languages[]';
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

/** The form's fields with the maximum size of each in bytes of UTF-8, and those that may be repeated. */
export const TRANSCRIPTION_FIELDS = {
  fieldBytes: {
    ...Object.fromEntries(['model', 'language', 'response_format', 'stream'].map((name) => [name, WORD_BYTES])),
    [GRANULARITY_FIELD]: WORD_BYTES,
    [LANGUAGES_FIELD]: WORD_BYTES,
    prompt: OPTION_FIELD_BYTES.prompt,
    [KEYWORDS_FIELD]: OPTION_FIELD_BYTES.keywords,
    ...Object.fromEntries(IGNORED.map((name) => [name, IGNORED_BYTES])),
  },
  listFields: [
    GRANULARITY_FIELD,
    KEYWORDS_FIELD,
    LANGUAGES_FIELD,
    'include[]',
    'known_speaker_names[]',
    'known_speaker_references[]',
  ],
};

/** As above, of a translation. */
export const TRANSLATION_FIELDS = {
  fieldBytes: {
    ...Object.fromEntries(['model', 'language', 'response_format', 'temperature'].map((name) => [name, WORD_BYTES])),
    prompt: OPTION_FIELD_BYTES.prompt,
  },
};

const commonFields = {
  file: fileSchema,
  model: Type.Optional(
    Type.String({
      description: '`lite` or `pro` name a plan, any other is the plan of the account.',
      examples: ['whisper-1'],
    }),
  ),
  language: Type.Optional(languageSchema),
  prompt: optionFormFields.prompt,
};

/** The form of POST /v1/audio/translations, for the API reference; `readTranslationRequest` reads the fields. */
export const translationForm = Type.Object({
  ...commonFields,
  response_format: Type.Optional(oneOf(TRANSLATION_FORMATS, { default: 'json' })),
});

/** The form of POST /v1/audio/transcriptions, for the API reference; `readTranscriptionRequest` reads the fields. */
export const transcriptionForm = Type.Object({
  ...commonFields,
  response_format: Type.Optional(
    oneOf(FORMATS, { default: 'json', description: 'diarized_json labels who says what; it needs the speaker model.' }),
  ),
  [GRANULARITY_FIELD]: Type.Optional(Type.Array(oneOf(GRANULARITIES), { description: 'With verbose_json.' })),
  [KEYWORDS_FIELD]: optionFormFields.keywords,
  [LANGUAGES_FIELD]: Type.Optional(
    Type.Array(languageSchema, { description: 'One is taken like language; of several, the model detects which.' }),
  ),
  stream: Type.Optional(
    oneOf(['true', 'false'], {
      default: 'false',
      description: 'true: the text as server-sent events; with response_format json, text or diarized_json.',
    }),
  ),
});

/** The validated fields of a request in OpenAI's format. */
export type OpenAiRequest = UploadRequest & {
  format: (typeof FORMATS)[number];
  granularities: readonly (typeof GRANULARITIES)[number][];
  isStream: boolean;
};

/**
 * Validates the fields of POST /v1/audio/transcriptions, as a request of an account on `accountPlan`.
 * @throws ApiError  naming the first field at fault
 */
export function readTranscriptionRequest(given: RequestFields, accountPlan: Plan): OpenAiRequest {
  const { options, ...common } = readCommonFields(given, accountPlan, FORMATS);
  const isStream = readBoolean(given.fields, 'stream');
  if (isStream && !STREAMED_FORMATS.includes(common.format)) {
    throw refusal(
      'response_format',
      `With stream=true, response_format must be one of ${STREAMED_FORMATS.join(', ')}.`,
    );
  }
  const granularities = readGranularities(given.lists);
  const wordTimes = common.format === 'verbose_json' && granularities.includes('word');
  const speakers = common.format === 'diarized_json' ? { diarize: true } : {};
  return { ...common, options: { ...options, ...speakers }, isStream, granularities, wordTimes };
}

/** As `readTranscriptionRequest`, of POST /v1/audio/translations. */
export function readTranslationRequest(given: RequestFields, accountPlan: Plan): OpenAiRequest {
  const { options, ...common } = readCommonFields(given, accountPlan, TRANSLATION_FORMATS);
  const translation = { ...options, translate_to: 'en' as const };
  return { ...common, options: translation, isStream: false, granularities: ['segment'] };
}

function readCommonFields(
  { fields, lists }: RequestFields,
  accountPlan: Plan,
  formats: readonly OpenAiRequest['format'][],
) {
  return {
    ...NOTHING_REQUESTED,
    format: readChoice(fields, 'response_format', formats) ?? ('json' as const),
    plan: readModel(fields, accountPlan),
    isAsync: false,
    audioUrl: null,
    language: readSpokenLanguage({ fields, lists }),
    options: readContext({ fields, lists }),
  };
}

/** Some clients send an empty language to have it detected. */
function readSpokenLanguage({ fields, lists }: RequestFields): string | null {
  const given = [...(lists.get(LANGUAGES_FIELD) ?? []), fields.get('language') ?? ''].filter((code) => code !== '');
  const languages = given.map((code) => readLanguage(new Map([['language', code]])));
  return fields.get('language') || languages.length === 1 ? languages.at(-1)! : null;
}

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
