import { oneOf, Type } from '../http/schema.ts';
import { CAPTION_DEFAULTS, type CaptionOptions } from '../rules/captions/captions.ts';
import { readNumber, refusal } from './request-fields.ts';
import type { DocumentFormat, TranscriptFormat } from './transcript.ts';

type Field = { option: keyof CaptionOptions; min: number; max: number; isWhole?: true; perUnit?: 1000; says: string };

/**
 * The options of captions by their names in requests. Times are in seconds there, in milliseconds in `CaptionOptions`.
 */
const FIELDS = {
  max_line_length: { option: 'maxLineLength', min: 10, max: 120, isWhole: true, says: 'Characters of a line.' },
  max_lines: { option: 'maxLines', min: 1, max: 4, isWhole: true, says: 'Lines of a caption.' },
  min_duration: { option: 'minDurationMs', min: 0, max: 5, perUnit: 1000, says: 'Seconds.' },
  max_duration: { option: 'maxDurationMs', min: 1, max: 30, perUnit: 1000, says: 'Seconds.' },
  max_chars_per_second: { option: 'maxCharsPerSecond', min: 5, max: 40, says: 'Reading speed.' },
  min_gap: { option: 'minGapMs', min: 0, max: 1, perUnit: 1000, says: 'Seconds between two captions.' },
} as const satisfies Record<string, Field>;

type FieldName = keyof typeof FIELDS;
/** The given caption options, as in the request. */
export type CaptionRequest = Partial<Record<FieldName, number>>;

const NAMES = Object.keys(FIELDS) as FieldName[];

/** Query or form fields for the options of captions. */
export const captionFields = Object.fromEntries(
  NAMES.map((name) => {
    const { option, min, max, says, ...more } = FIELDS[name] as Field;
    const schema = {
      minimum: min,
      maximum: max,
      description: `${says} With srt and vtt; ${CAPTION_DEFAULTS[option] / (more.perUnit ?? 1)} where another of these is given.`,
    };
    return [name, Type.Optional(more.isWhole ? Type.Integer(schema) : Type.Number(schema))];
  }),
) as Record<FieldName, ReturnType<typeof Type.Optional<ReturnType<typeof Type.Number>>>>;

/** The query field for the names in captions. */
export const namesField = Type.Optional(
  oneOf(['true', 'false'], {
    description:
      'Whether srt and vtt show who speaks, for jobs with diarize=true or multichannel=true. Absent: where speakers were named. Documents show it unless false.',
  }),
);

/** The maximum size of each form field, in bytes of UTF-8. */
export const CAPTION_FIELD_BYTES = Object.fromEntries(NAMES.map((name) => [name, 64])) as Record<FieldName, number>;

/**
 * Validates the caption options of a form.
 * @throws ApiError  400 that names the first field at fault
 */
export function readCaptionFields(
  fields: ReadonlyMap<string, string>,
  format: TranscriptFormat,
): CaptionOptions | null {
  const request: CaptionRequest = {};
  for (const name of NAMES) {
    const value = readNumber(fields, name, FIELDS[name] as Field);
    if (value !== null) request[name] = value;
  }
  return captionOptions(request, format);
}

/**
 * Whether the form asks for names in captions:
 * by `speakers=true`, or by the number of speakers, which has the same field.
 * @throws ApiError  400 for `speakers=true` with a format that has no captions
 */
export function readCaptionNames(fields: ReadonlyMap<string, string>, format: TranscriptFormat): boolean {
  const given = fields.get('speakers') ?? 'false';
  return captionNames(given === 'true', format) || (given !== 'false' && isCaptionFormat(format));
}

/** @throws ApiError  400 for names with a format that has no captions */
export function captionNames(areAsked: boolean, format: TranscriptFormat): boolean {
  if (areAsked && !isCaptionFormat(format)) throw refusal('speakers', 'speakers=true is for the formats srt and vtt.');
  return areAsked;
}

function isCaptionFormat(format: TranscriptFormat | DocumentFormat): boolean {
  return format === 'srt' || format === 'vtt';
}

/**
 * How captions are shaped: null for one caption per segment, when no option is given.
 * Other options have their defaults.
 * @throws ApiError  400 for options that do not apply to the format or contradict each other
 */
export function captionOptions(
  request: CaptionRequest,
  format: TranscriptFormat | DocumentFormat,
): CaptionOptions | null {
  const given = NAMES.filter((name) => request[name] !== undefined);
  if (given.length === 0) return null;
  if (!isCaptionFormat(format)) throw refusal(given[0]!, `${given[0]} is for the formats srt and vtt.`);
  const options = { ...CAPTION_DEFAULTS };
  for (const name of given) {
    const { option, perUnit = 1 } = FIELDS[name] as Field;
    options[option] = Math.round(request[name]! * perUnit * 1000) / 1000;
  }
  if (options.minDurationMs > options.maxDurationMs) {
    throw refusal('min_duration', 'min_duration must not be greater than max_duration.');
  }
  return options;
}
