import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Verbatim } from '#sdk/client/index.ts';
import { DATA_NOTICE, json } from './answers.ts';
import { pageOf, timedLines } from './transcript-page.ts';

const FORMATS = ['timed', 'text', 'srt', 'vtt'] as const;
const MAX_PAGE_CHARS = 100_000;
const PAGE_CHARS = 20_000;

export type ReadArguments = { job_id: string; format?: (typeof FORMATS)[number]; offset?: number; max_chars?: number };

export const READ_SCHEMA = {
  job_id: { type: 'string', description: 'Id of a job: job_…' },
  format: {
    type: 'string',
    enum: FORMATS,
    description: 'timed, the default: a line for each segment, with its time and speaker.',
  },
  offset: { type: 'integer', minimum: 0, description: 'Character to begin at; 0 without it.' },
  max_chars: { type: 'integer', minimum: 100, maximum: MAX_PAGE_CHARS, description: `${PAGE_CHARS} without it.` },
};

/** A page of a transcript: what is shown of it first, and then the text alone. */
export async function readTranscript(
  client: Verbatim,
  { job_id: id, format = 'timed', offset = 0, max_chars = PAGE_CHARS }: ReadArguments,
  signal: AbortSignal,
): Promise<CallToolResult> {
  const options = { signal };
  const text =
    format === 'timed'
      ? timedLines(await client.jobs.transcript(id, 'json', {}, options))
      : await client.jobs.transcript(id, format, {}, options);
  const { text: shown, ...place } = pageOf(text, offset, max_chars);
  const next = place.to < place.total ? place.to : null;
  const head = { job_id: id, format, characters: place, next_offset: next, notice: DATA_NOTICE };
  return { content: [...json(head).content, { type: 'text', text: shown }] };
}
