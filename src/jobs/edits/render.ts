import { Readable } from 'node:stream';
import { ApiError } from '../../http/api-error.ts';
import type { Answer } from '../../http/route.ts';
import type { DocumentStyle } from '../documents/document-tasks.ts';
import { MEDIA_TYPES } from '../documents/media.ts';
import {
  type CaptionStyle,
  type DocumentFormat,
  renderTranscript,
  type TranscriptFormat,
  type TranscriptJob,
} from '../transcript.ts';
import { runTask, type TaskCaller } from './run-task.ts';

type Rendered = Pick<Answer, 'body' | 'contentType' | 'stream' | 'headers'>;

const SHOWN_CHARACTERS = 10;

/** A completed job's transcript as a file. A thread renders long ones. */
export async function render(
  caller: TaskCaller,
  job: TranscriptJob,
  format: TranscriptFormat,
  style?: CaptionStyle,
): Promise<Rendered> {
  // JSON has the segments as they are stored.
  if (format === 'json') return renderTranscript(job, format);
  return await runTask(caller, 'renderTranscript', job, format, style);
}

/**
 * A completed job's transcript for readers.
 * @throws ApiError  409 for a PDF of text that it cannot show
 */
export async function renderDocument(
  caller: TaskCaller,
  job: TranscriptJob,
  format: DocumentFormat,
  style: DocumentStyle,
): Promise<Rendered> {
  if (format === 'md') {
    return {
      body: await runTask(caller, 'renderMarkdown', job, style),
      contentType: `${MEDIA_TYPES.md}; charset=utf-8`,
    };
  }
  if (format === 'docx') {
    return fileOf(await runTask(caller, 'renderDocx', job, style), MEDIA_TYPES.docx);
  }
  const pdf = await runTask(caller, 'renderPdf', job, style);
  if (pdf.kind === 'unshown') throw unshown(pdf.characters);
  return fileOf(pdf.content, MEDIA_TYPES.pdf);
}

function fileOf(content: Uint8Array, contentType: string): Rendered {
  const stream = Readable.from([content], { objectMode: false });
  return { stream, contentType, headers: { 'content-length': String(content.length) } };
}

function unshown(characters: readonly string[]): ApiError {
  const some = characters.slice(0, SHOWN_CHARACTERS).join(' ');
  return new ApiError(
    'conflict',
    `A PDF cannot show ${characters.length} of the characters of this transcript, such as ${some}. Ask for format=docx or format=md.`,
    { param: 'format' },
  );
}
