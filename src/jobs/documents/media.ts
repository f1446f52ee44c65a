import { Type } from '../../http/schema.ts';

/** The media types of transcripts for readers, by their formats. */
export const MEDIA_TYPES = {
  md: 'text/markdown',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  pdf: 'application/pdf',
} as const;

const binaryFile = (description: string) => Type.Unsafe<string>({ type: 'string', format: 'binary', description });

/** The answers with transcripts for readers, by their media types. */
export const DOCUMENT_MEDIA = {
  [MEDIA_TYPES.md]: Type.String({ description: 'A document with speakers and times.' }),
  [MEDIA_TYPES.docx]: binaryFile('The same as DOCX.'),
  [MEDIA_TYPES.pdf]: binaryFile('The same as PDF.'),
};
