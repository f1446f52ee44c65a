import { toMarkdown } from '../../rules/documents/markdown.ts';
import type { TranscriptJob } from '../transcript.ts';
import { jobDocument } from './job-document.ts';
import type { PdfResult } from './pdf.ts';

/** Whether a document shows who speaks. */
export type DocumentStyle = { hasNames: boolean };

/** A completed job's transcript as Markdown. */
export function renderMarkdown(job: TranscriptJob, style: DocumentStyle): string {
  return toMarkdown(jobDocument(job, style));
}

/** A completed job's transcript as DOCX. Loading the library takes longer than most transcripts: for a thread. */
export async function renderDocx(job: TranscriptJob, style: DocumentStyle): Promise<Uint8Array> {
  const { toDocx } = await import('./docx.ts');
  return await toDocx(jobDocument(job, style));
}

/** A completed job's transcript as PDF, or the characters that it cannot show. For a thread, as `renderDocx`. */
export async function renderPdf(job: TranscriptJob, style: DocumentStyle): Promise<PdfResult> {
  const { toPdf } = await import('./pdf.ts');
  return await toPdf(jobDocument(job, style));
}
