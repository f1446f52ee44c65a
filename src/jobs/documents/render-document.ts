import { toMarkdown } from '../../rules/documents/markdown.ts';
import type { DocumentFormat, TranscriptJob } from '../transcript.ts';
import { jobDocument } from './job-document.ts';

/** A completed job's transcript for readers: the body of the file and its content type. */
export function renderDocument(
  job: TranscriptJob,
  _format: DocumentFormat,
  style: { hasNames: boolean },
): { body: unknown; contentType: string } {
  return { body: toMarkdown(jobDocument(job, style)), contentType: 'text/markdown; charset=utf-8' };
}
