import { type Command, Option } from 'commander';
import type { GetJobsIdTranscriptQuery } from '#sdk/api.ts';
import type { Verbatim } from '#sdk/client/index.ts';
import { UsageError } from '../../exit.ts';
import { number, wholeNumber } from '../../options.ts';

/** The formats of transcripts, by their file extensions. */
export const FORMATS = ['txt', 'srt', 'vtt', 'json', 'md', 'docx', 'pdf'] as const;
export type Format = (typeof FORMATS)[number];

/** The options of captions. */
export type CaptionFlags = {
  maxLineLength?: number;
  maxLines?: number;
  minDuration?: number;
  maxDuration?: number;
  maxCharsPerSecond?: number;
  minGap?: number;
  speakerNames?: boolean;
};

// One option shapes captions: the service then has the values of broadcasters for the others.
const USUAL_LINE_LENGTH = 42;

type CaptionParams = Omit<GetJobsIdTranscriptQuery, 'format' | 'version'>;

/** Adds the options of captions. */
export function addCaptionOptions(command: Command): Command {
  const option = (flags: string, help: string, read: (text: string) => number) =>
    new Option(flags, help).argParser(read).helpGroup('Captions (srt, vtt):');
  return command
    .addOption(option('--max-line-length <number>', 'characters of a line, 10 to 120; 42 without it', wholeNumber))
    .addOption(option('--max-lines <number>', 'lines of a caption, 1 to 4; 2 without it', wholeNumber))
    .addOption(option('--min-duration <seconds>', 'shortest caption, 0 to 5; 0.833 without it', number))
    .addOption(option('--max-duration <seconds>', 'longest caption, 1 to 30; 7 without it', number))
    .addOption(option('--max-chars-per-second <number>', 'reading speed, 5 to 40; 20 without it', number))
    .addOption(option('--min-gap <seconds>', 'between two captions, 0 to 1; 0.083 without it', number))
    .addOption(new Option('--speaker-names', 'show who speaks').helpGroup('Captions (srt, vtt):'));
}

/** Whether a format is no text: such a transcript is written to a file only. */
function isFileFormat(format: Format): format is 'docx' | 'pdf' {
  return format === 'docx' || format === 'pdf';
}

/** A transcript in a format other than JSON: text, or the bytes of a file. */
export async function readTranscript(
  { jobs }: Pick<Verbatim, 'jobs'>,
  id: string,
  format: Exclude<Format, 'json'>,
  params: Omit<GetJobsIdTranscriptQuery, 'format'>,
): Promise<string | Uint8Array> {
  if (!isFileFormat(format)) return await jobs.transcript(id, format === 'txt' ? 'text' : format, params);
  const file = await jobs.transcript(id, format, params);
  return new Uint8Array(await file.arrayBuffer());
}

/** @throws UsageError  for a file without a place to write it to */
export function requireTarget(format: Format, out: string | undefined): void {
  if (isFileFormat(format) && out === undefined) throw new UsageError(`A ${format} transcript needs --out.`);
}

/**
 * The options of captions as the API names them.
 * Without one, captions are shaped for reading by the service's usual values.
 */
export function captionParams(format: Format, flags: CaptionFlags): CaptionParams {
  const isCaption = format === 'srt' || format === 'vtt';
  return {
    max_line_length: flags.maxLineLength ?? (isCaption ? USUAL_LINE_LENGTH : undefined),
    max_lines: flags.maxLines,
    min_duration: flags.minDuration,
    max_duration: flags.maxDuration,
    max_chars_per_second: flags.maxCharsPerSecond,
    min_gap: flags.minGap,
    speakers: flags.speakerNames ? 'true' : undefined,
  };
}
