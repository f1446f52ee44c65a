import { type CaptionStyle, renderTranscript, type TranscriptFormat, type TranscriptJob } from '../transcript.ts';
import { runTask } from './run-task.ts';

/** `renderTranscript`, which a thread does for a long transcript. */
export async function render(
  job: TranscriptJob,
  format: TranscriptFormat,
  style?: CaptionStyle,
): Promise<{ body: unknown; contentType?: string }> {
  // JSON has the segments as they are stored.
  return format === 'json' ? renderTranscript(job, format) : await runTask('renderTranscript', job, format, style);
}
