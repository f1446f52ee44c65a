/** The fields of the form, as texts; an empty field is left out of the request. */
export type CaptionForm = {
  format: 'srt' | 'vtt';
  hasNames: boolean;
  max_line_length: string;
  max_lines: string;
  min_duration: string;
  max_duration: string;
  max_chars_per_second: string;
  min_gap: string;
};

type Field = {
  name: Exclude<keyof CaptionForm, 'format' | 'hasNames'>;
  label: string;
  min: number;
  max: number;
  step: number;
};

/** The limits of the API, and its values for fields that are empty while another one is given. */
export const FIELDS: readonly (Field & { usual: number })[] = [
  { name: 'max_line_length', label: 'Characters per line', min: 10, max: 120, step: 1, usual: 42 },
  { name: 'max_lines', label: 'Lines at most', min: 1, max: 4, step: 1, usual: 2 },
  { name: 'min_duration', label: 'Shortest, in s', min: 0, max: 5, step: 0.001, usual: 0.833 },
  { name: 'max_duration', label: 'Longest, in s', min: 1, max: 30, step: 0.1, usual: 7 },
  { name: 'max_chars_per_second', label: 'Characters per second', min: 5, max: 40, step: 0.5, usual: 20 },
  { name: 'min_gap', label: 'Gap between two, in s', min: 0, max: 1, step: 0.001, usual: 0.083 },
];

/** One caption per segment. */
export const NO_SHAPE: CaptionForm = {
  format: 'srt',
  hasNames: false,
  max_line_length: '',
  max_lines: '',
  min_duration: '',
  max_duration: '',
  max_chars_per_second: '',
  min_gap: '',
};

/** The values of the common broadcasting guides. */
export const USUAL_SHAPE: Partial<CaptionForm> = Object.fromEntries(
  FIELDS.map(({ name, usual }) => [name, String(usual)]),
);

/** Whether no number shapes the captions. */
export function isPlain(form: CaptionForm): boolean {
  return FIELDS.every(({ name }) => form[name] === '');
}

type Params = { format: 'srt' | 'vtt'; speakers?: 'true' } & { [Name in Field['name']]?: number };

/** The query of the request. A field whose text is no number within its limits is left out. */
export function captionParams({ format, hasNames, ...texts }: CaptionForm): Params {
  const numbers = FIELDS.flatMap(({ name, min, max, step }) => {
    const value = Number(texts[name]);
    const isAllowed =
      texts[name].trim() !== '' && value >= min && value <= max && (step < 1 || Number.isInteger(value));
    return isAllowed ? [[name, value] as const] : [];
  });
  return { format, ...(hasNames && { speakers: 'true' as const }), ...Object.fromEntries(numbers) };
}

/** The form at first: captions for viewers. */
export const BROADCAST: CaptionForm = { ...NO_SHAPE, ...USUAL_SHAPE };
