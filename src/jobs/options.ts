import { component, oneOf, type TSchema, Type } from '../http/schema.ts';
import { readTrackChoice, type TrackChoice } from '../rules/channels/audio-tracks.ts';
import { SPEAKERS_MAX } from '../rules/speakers/turn.ts';
import { MAX_REPLACEMENT_CHARS, MAX_REPLACEMENTS, readReplacementList } from '../rules/transcript/replacement-list.ts';
import type { Replacement } from '../rules/transcript/replacements.ts';
import { type RequestFields, readBoolean, readNumber, refusal, WORD_BYTES } from './request-fields.ts';
import { checkSpeakerOptions, readDiarize, readSpeakerCount, type SpeakerOptions } from './speaker-options.ts';

/**
 * What a request may ask of a job, as it is stored and shown, beside the plan, the language, word times and metadata,
 * which have columns. An option that was not given is absent.
 */
export type JobOptions = {
  /** Context for the engine. */
  prompt?: string;
  /** Words and phrases that the engine should know. */
  keywords?: string[];
  /** Applied to what the engine gives. */
  replacements?: Replacement[];
  /** The language of the text, where it is not to be the spoken one. */
  translate_to?: 'en';
  /** Each channel on its own. */
  multichannel?: boolean;
  audio_track?: TrackChoice;
  /** The job is erased this many seconds after its end. */
  delete_after_seconds?: number;
} & SpeakerOptions;

type OptionField<Value> = {
  /** The value in a job's `options` and in a JSON body. */
  schema: TSchema;
  /** The field of a form, where it is not like `schema`. */
  form?: TSchema;
  /** The maximum size of a field, in bytes of UTF-8. */
  maxBytes: number;
  /** Whether live sessions have it: it is in the body of POST /v1/live, else it is refused there. */
  isLive: boolean;
} & (
  | { isRepeated?: false; read: (text: string) => Value | undefined }
  /** Takes the values of all fields of this name, in order. */
  | { isRepeated: true; read: (values: readonly string[]) => Value }
);

type OptionFields = { [Name in keyof JobOptions]-?: OptionField<NonNullable<JobOptions[Name]>> };

const MAX_REPLACEMENTS_BYTES = 32 * 1024;
const MAX_PROMPT_CHARS = 1_000;
const MAX_KEYWORDS = 100;
const MAX_KEYWORD_CHARS = 50;
const MAX_KEYWORD_WORDS = 6;
// The longest JOB_RETENTION_DAYS.
const MAX_DELETE_AFTER_SECONDS = 3_650 * 86_400;
const UTF8_BYTES_PER_CHAR = 4;
// Engines give other characters a meaning of their own.
const KEYWORD = /^[\p{L}\p{M}\p{N} '.-]*[\p{L}\p{N}][\p{L}\p{M}\p{N} '.-]*$/u;
const REPLACEMENTS_MEANING =
  'Words and phrases of the transcript to replace: whole words, in any case, of several the longest, each once; an empty `to` leaves them out.';
const CONTROL_CHARACTERS = /(?![\t\n\r])\p{Cc}/u;

const MULTICHANNEL_MEANING =
  'true: each channel is transcribed on its own, at most 8, and its segments carry its number; each distinct one is charged.';
const AUDIO_TRACK_MEANING =
  'The audio track: its index among the audio tracks, from 0, or its language, such as de. Absent: the first.';
const phraseSchema = { maxLength: MAX_REPLACEMENT_CHARS };

const FIELDS: OptionFields = {
  prompt: {
    schema: Type.String({
      minLength: 1,
      maxLength: MAX_PROMPT_CHARS,
      description: 'Context for the engine, such as the subject or a text in the wanted style.',
      examples: ['A lecture on the history of the United States.'],
    }),
    maxBytes: MAX_PROMPT_CHARS * UTF8_BYTES_PER_CHAR,
    isLive: true,
    read: readPrompt,
  },
  keywords: {
    schema: Type.Array(Type.String({ minLength: 1, maxLength: MAX_KEYWORD_CHARS }), {
      maxItems: MAX_KEYWORDS,
      description: `Words that the engine should know, each of at most ${MAX_KEYWORD_WORDS} words; letters, digits, spaces, ' - and a full stop.`,
      examples: [['Kennedy', 'Cape Canaveral']],
    }),
    maxBytes: MAX_KEYWORD_CHARS * UTF8_BYTES_PER_CHAR,
    isLive: true,
    isRepeated: true,
    read: readKeywords,
  },
  replacements: {
    schema: Type.Array(
      Type.Object({ from: Type.String({ minLength: 1, ...phraseSchema }), to: Type.String(phraseSchema) }),
      {
        maxItems: MAX_REPLACEMENTS,
        description: REPLACEMENTS_MEANING,
      },
    ),
    form: Type.String({
      description: `${REPLACEMENTS_MEANING} A JSON array of \`{"from", "to"}\`, at most ${MAX_REPLACEMENTS}.`,
      examples: ['[{"from":"cooper netties","to":"Kubernetes"}]'],
    }),
    maxBytes: MAX_REPLACEMENTS_BYTES,
    isLive: true,
    read: readReplacements,
  },
  translate_to: {
    schema: oneOf(['en'], {
      description:
        'Language of the text, in place of the spoken one. Answered 400 where the engine of the plan cannot.',
    }),
    maxBytes: WORD_BYTES,
    isLive: false,
    read: readTranslateTo,
  },
  diarize: {
    schema: Type.Boolean({
      description: 'Label who says what; needs the speaker model on the server.',
    }),
    form: oneOf(['true', 'false', '1', '0'], {
      default: 'false',
      description: 'true: label who says what; needs the speaker model on the server.',
    }),
    maxBytes: WORD_BYTES,
    isLive: false,
    read: readDiarize,
  },
  speakers: speakerCount('speakers', 'The exact number of speakers, with diarize=true.', {
    form: Type.Union([Type.Integer({ minimum: 1, maximum: SPEAKERS_MAX }), oneOf(['true', 'false'])], {
      description: 'The exact number of speakers, with diarize=true; true or a number shows names in srt and vtt.',
    }),
  }),
  min_speakers: speakerCount('min_speakers', 'The smallest number of speakers, with diarize=true.'),
  max_speakers: speakerCount('max_speakers', 'The largest number of speakers, with diarize=true.'),
  multichannel: {
    schema: Type.Boolean({ description: MULTICHANNEL_MEANING, examples: [true] }),
    form: oneOf(['true', 'false', '1', '0'], { default: 'false', description: MULTICHANNEL_MEANING }),
    maxBytes: WORD_BYTES,
    isLive: false,
    read: (text) => readBoolean(new Map([['multichannel', text]]), 'multichannel'),
  },
  audio_track: {
    schema: Type.Unsafe<TrackChoice>({
      anyOf: [Type.Integer({ minimum: 0 }), Type.String()],
      description: AUDIO_TRACK_MEANING,
      examples: [1, 'de'],
    }),
    form: Type.String({ description: AUDIO_TRACK_MEANING, examples: ['1', 'de'] }),
    maxBytes: WORD_BYTES,
    isLive: false,
    read: readTrack,
  },
  delete_after_seconds: {
    schema: Type.Integer({
      minimum: 0,
      maximum: MAX_DELETE_AFTER_SECONDS,
      description:
        'The job is erased this many seconds after its end, once its deliveries have ended; at most JOB_RETENTION_DAYS.',
      examples: [3600],
    }),
    maxBytes: WORD_BYTES,
    isLive: true,
    read: readDeleteAfter,
  },
};

function speakerCount(
  name: 'speakers' | 'min_speakers' | 'max_speakers',
  description: string,
  more: { form?: TSchema } = {},
): OptionField<number> {
  const schema = Type.Integer({ minimum: 1, maximum: SPEAKERS_MAX, description });
  return { schema, maxBytes: WORD_BYTES, isLive: false, read: (text) => readSpeakerCount(name, text), ...more };
}

const NAMES = Object.keys(FIELDS) as (keyof JobOptions)[];

/** The fields of a form that carry options, for the API reference. */
export const optionFormFields = Object.fromEntries(
  NAMES.map((name) => [name, Type.Optional(FIELDS[name].form ?? FIELDS[name].schema)]),
) as Record<keyof JobOptions, ReturnType<typeof Type.Optional<TSchema>>>;

/** The fields of a JSON body that carry options, for the API reference. */
export const optionJsonFields = Object.fromEntries(
  NAMES.map((name) => [name, Type.Optional(FIELDS[name].schema)]),
) as typeof optionFormFields;

/** The options that live sessions have, as fields of a JSON body: also in the form of a form field. */
export const liveOptionFields: { [Name in keyof JobOptions]: ReturnType<typeof Type.Optional<TSchema>> } =
  Object.fromEntries(
    NAMES.filter((name) => FIELDS[name].isLive).map((name) => {
      const { schema, form } = FIELDS[name];
      return [name, Type.Optional(form ? Type.Union([schema, form]) : schema)];
    }),
  );

/** The names of the options that live sessions do not have. */
export const NOT_LIVE = NAMES.filter((name) => !FIELDS[name].isLive);

/** The maximum size of each field, in bytes of UTF-8. */
export const OPTION_FIELD_BYTES = Object.fromEntries(NAMES.map((name) => [name, FIELDS[name].maxBytes])) as Record<
  keyof JobOptions,
  number
>;

/** The names of the fields that may be repeated. */
export const REPEATED_OPTIONS: readonly string[] = NAMES.filter((name) => FIELDS[name].isRepeated);

/** What was asked for, as a job shows it: its options, and its language and word times where the request named them. */
export type ShownOptions = JobOptions & { language?: string; timestamps?: 'word' };

export const shownOptionsSchema = Type.Unsafe<ShownOptions>(
  Type.Object(
    {
      language: Type.Optional(Type.String({ description: 'As the request named it.' })),
      timestamps: Type.Optional(oneOf(['word'])),
      ...Object.fromEntries(NAMES.map((name) => [name, Type.Optional(FIELDS[name].schema)])),
    },
    component('JobOptions', undefined, 'What the request asked for; what it left out is absent.'),
  ),
);

/**
 * The options that a request gives.
 * @throws ApiError  400 that names the first option at fault
 */
export function readOptions(request: RequestFields): JobOptions {
  const given = NAMES.map((name) => [name, readOption(name, request)] as const);
  const options: JobOptions = Object.fromEntries(given.filter(([, value]) => value !== undefined));
  checkSpeakerOptions(options);
  return options;
}

function readOption(name: keyof JobOptions, { fields, lists }: RequestFields) {
  const field: OptionField<unknown> = FIELDS[name];
  if (field.isRepeated) {
    const values = lists.get(name);
    // A JSON body may hold an empty list.
    return values?.length ? field.read(values) : undefined;
  }
  const text = fields.get(name);
  return text === undefined ? undefined : field.read(text);
}

function readTranslateTo(text: string): 'en' {
  if (text === 'en') return text;
  throw refusal('translate_to', 'translate_to must be en: engines translate into English only.');
}

function readDeleteAfter(text: string): number {
  const name = 'delete_after_seconds';
  return readNumber(new Map([[name, text]]), name, { min: 0, max: MAX_DELETE_AFTER_SECONDS, isWhole: true })!;
}

function readReplacements(text: string): Replacement[] | undefined {
  const list = readReplacementList(text);
  if (list.kind === 'invalid') throw refusal('replacements', list.message);
  // As for keywords, a client may send its list when it is empty.
  return list.replacements.length === 0 ? undefined : list.replacements;
}

function readTrack(text: string): TrackChoice {
  const choice = readTrackChoice(text);
  if (choice !== null) return choice;
  throw refusal('audio_track', 'audio_track must be an index, 0 for the first audio track, or a language such as de.');
}

function readPrompt(text: string): string {
  if ([...text].length > MAX_PROMPT_CHARS) {
    throw refusal('prompt', `prompt may have at most ${MAX_PROMPT_CHARS} characters.`);
  }
  if (text.trim() === '') throw refusal('prompt', 'prompt must not be empty; leave it out.');
  if (CONTROL_CHARACTERS.test(text) || !text.isWellFormed()) {
    throw refusal('prompt', 'prompt must be text without control characters.');
  }
  return text;
}

function readKeywords(values: readonly string[]): string[] {
  if (values.length > MAX_KEYWORDS) throw refusal('keywords', `Send at most ${MAX_KEYWORDS} keywords.`);
  return [...new Set(values.map((value, index) => readKeyword(value, `keywords[${index}]`)))];
}

function readKeyword(given: string, entry: string): string {
  const keyword = given.trim();
  if (!KEYWORD.test(keyword)) {
    throw refusal('keywords', `${entry} must be letters or digits, with spaces, ' - and full stops at most.`);
  }
  if ([...keyword].length > MAX_KEYWORD_CHARS || keyword.split(/ +/).length > MAX_KEYWORD_WORDS) {
    const limits = `${MAX_KEYWORD_CHARS} characters and ${MAX_KEYWORD_WORDS} words`;
    throw refusal('keywords', `${entry} may have at most ${limits}.`);
  }
  return keyword;
}
