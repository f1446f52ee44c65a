import { oneOf, Type } from '../../http/schema.ts';
import { PLANS, type Plan } from '../../rules/accounts/plan.ts';
import { permitPlan, readLanguage, type UploadRequest } from '../api/request.ts';
import { NOTHING_REQUESTED } from '../job.ts';
import { OPTION_FIELD_BYTES, optionFormFields, readOptions } from '../options.ts';
import { fileSchema, languageSchema } from '../request/schemas.ts';
import { type RequestFields, readBoolean, readChoice, refusal, WORD_BYTES } from '../request-fields.ts';

const TRANSLATION_FORMATS = ['json', 'text', 'srt', 'vtt', 'verbose_json'] as const;
const FORMATS = [...TRANSLATION_FORMATS, 'diarized_json'] as const;
const STREAMED_FORMATS: readonly string[] = ['json', 'text', 'diarized_json'];
const GRANULARITIES = ['segment', 'word'] as const;

const GRANULARITY_FIELD = 'timestamp_granularities[]';
const KEYWORDS_FIELD = 'keywords[]';
const LANGUAGES_FIELD = 'languages[]';
/** Lists as clients write them that send no brackets. */
const WITHOUT_BRACKETS = new Map(
  [GRANULARITY_FIELD, KEYWORDS_FIELD, LANGUAGES_FIELD].map((name) => [bare(name), name]),
);
const IGNORED_BYTES = 64 * 1024;

// Fields of that API without a meaning here. They are accepted and ignored, so that its clients need no change.
const IGNORED = [
  ...['temperature', 'user', 'task', 'seed'],
  // Of other servers of that API: options of their engines.
  ...['vad_filter', 'vad_parameters', 'hotwords', 'word_timestamps', 'without_timestamps', 'max_new_tokens'],
  ...['beam_size', 'best_of', 'patience', 'length_penalty', 'repetition_penalty', 'no_repeat_ngram_size'],
  ...['temperature_inc', 'compression_ratio_threshold', 'logprob_thold', 'log_prob_threshold', 'entropy_thold'],
  ...['no_speech_threshold', 'no_speech_thold', 'condition_on_previous_text', 'initial_prompt', 'batch_size'],
  ...['top_p', 'top_k', 'min_p', 'max_completion_tokens', 'detect_language', 'suppress_tokens'],
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
    ...withBare({
      [GRANULARITY_FIELD]: WORD_BYTES,
      [LANGUAGES_FIELD]: WORD_BYTES,
      [KEYWORDS_FIELD]: OPTION_FIELD_BYTES.keywords,
    }),
    prompt: OPTION_FIELD_BYTES.prompt,
    ...Object.fromEntries(IGNORED.map((name) => [name, IGNORED_BYTES])),
  },
  listFields: [...[...WITHOUT_BRACKETS].flat(), 'include[]', 'known_speaker_names[]', 'known_speaker_references[]'],
};

/** As above, of a translation. */
export const TRANSLATION_FIELDS = {
  fieldBytes: {
    ...Object.fromEntries(['model', 'language', 'response_format'].map((name) => [name, WORD_BYTES])),
    prompt: OPTION_FIELD_BYTES.prompt,
    ...Object.fromEntries(IGNORED.map((name) => [name, IGNORED_BYTES])),
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
export function readTranscriptionRequest(received: RequestFields, accountPlan: Plan): OpenAiRequest {
  const given = normalised(received);
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
export function readTranslationRequest(received: RequestFields, accountPlan: Plan): OpenAiRequest {
  const { options, ...common } = readCommonFields(normalised(received), accountPlan, TRANSLATION_FORMATS);
  const translation = { ...options, translate_to: 'en' as const };
  return { ...common, options: translation, isStream: false, granularities: ['segment'] };
}

/** Empty values count as absent, and lists have brackets. Without them several values may be one text. */
function normalised({ fields, lists }: RequestFields): RequestFields {
  const values = new Map<string, string[]>();
  for (const [name, texts] of lists) {
    const listName = WITHOUT_BRACKETS.get(name);
    const given = name === bare(GRANULARITY_FIELD) ? texts.flatMap((text) => text.split(/[\s,"'[\]]+/)) : texts;
    const all = [...(values.get(listName ?? name) ?? []), ...given.filter((text) => text !== '')];
    if (all.length > 0) values.set(listName ?? name, all);
  }
  return { fields: new Map([...fields].filter(([, text]) => text !== '')), lists: values };
}

function bare(name: string): string {
  return name.slice(0, -2);
}

function withBare(bytes: Record<string, number>): Record<string, number> {
  return { ...bytes, ...Object.fromEntries(Object.entries(bytes).map(([name, limit]) => [bare(name), limit])) };
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

/** Some clients send `auto` to have it detected. */
function readSpokenLanguage({ fields, lists }: RequestFields): string | null {
  const isNamed = (code: string) => code.toLowerCase() !== 'auto';
  const one = [fields.get('language') ?? 'auto'].filter(isNamed);
  const given = [...(lists.get(LANGUAGES_FIELD) ?? []).filter(isNamed), ...one];
  const languages = given.map((code) => readLanguage(new Map([['language', code]])));
  return one.length === 1 || languages.length === 1 ? languages.at(-1)! : null;
}

/** The options that the OpenAI API has too. */
function readContext({ fields, lists }: RequestFields) {
  const prompt = fields.get('prompt') ?? null;
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
