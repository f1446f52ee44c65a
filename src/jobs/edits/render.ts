import {
  type CaptionStyle,
  type DocumentFormat,
  isDocumentFormat,
  renderTranscript,
  type TranscriptFormat,
  type TranscriptJob,
} from '../transcript.ts';
import { runTask } from './run-task.ts';

/** A completed job's transcript as a file. A thread renders long ones. */
export async function render(
  job: TranscriptJob,
  format: TranscriptFormat | DocumentFormat,
  style: CaptionStyle = { shape: null, hasNames: false },
): Promise<{ body: unknown; contentType?: string }> {
  // JSON has the segments as they are stored.
  if (format === 'json') return renderTranscript(job, format);
  if (isDocumentFormat(format)) return await runTask('renderDocument', job, format, style);
  return await runTask('renderTranscript', job, format, style);
}
