import type { GetJobsIdTranscriptQuery } from '#sdk/api.ts';
import type { Verbatim } from '#sdk/client/index.ts';

/** The formats that a transcript is saved in, by their file extensions. */
export const FILE_FORMATS = ['txt', 'md', 'docx', 'pdf', 'srt', 'vtt', 'json'] as const;
export type FileFormat = (typeof FILE_FORMATS)[number];

type CaptionParams = Omit<GetJobsIdTranscriptQuery, 'format' | 'version'>;

// One option is enough: the service then has the values of broadcasters for the others.
const FOR_READING: CaptionParams = { max_line_length: 42 };

/**
 * The transcript of a job as a file.
 * @param captions  absent: captions are shaped for reading; empty: one for each segment
 */
export async function transcriptFile(
  { jobs }: { jobs: Pick<Verbatim['jobs'], 'transcript'> },
  id: string,
  { format, captions = FOR_READING }: { format: FileFormat; captions?: CaptionParams },
): Promise<string | Blob> {
  if (format === 'json') return JSON.stringify(await jobs.transcript(id, 'json'), null, 2);
  if (format === 'txt') return await jobs.transcript(id, 'text');
  if (format === 'srt' || format === 'vtt') return await jobs.transcript(id, format, captions);
  if (format === 'md') return await jobs.transcript(id, format);
  return await jobs.transcript(id, format);
}
