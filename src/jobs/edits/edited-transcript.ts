import type { Sql } from '../../db/database.ts';
import { editSegments } from '../../rules/jobs/transcript-edits.ts';
import { toText } from '../../rules/jobs/transcript-text.ts';
import type { Job } from '../job.ts';
import type { TranscriptJob } from '../transcript.ts';
import type { StoredEdits } from './edit-store.ts';
import { findEdits } from './edit-store.ts';

export const TRANSCRIPT_VERSIONS = ['edited', 'original'] as const;
export type TranscriptVersion = (typeof TRANSCRIPT_VERSIONS)[number];

type StoredSegment = { start: number; end: number; text: string; words?: unknown[] };

/** A completed job with its edited transcript; unchanged where `version` is the original, or nothing was edited. */
export async function withVersion(sql: Sql, job: Job, version: TranscriptVersion): Promise<TranscriptJob> {
  return version === 'original' ? job : withEdits(job, await findEdits(sql, job));
}

/** A completed job with its edited transcript. */
export function withEdits(job: Job, { edits, editedAt }: StoredEdits): TranscriptJob {
  if (edits === null || editedAt === null) return job;
  const segments = editSegments(segmentsOf(job), edits);
  const captions = segments.map(({ start, end, text }) => ({ startSeconds: start, endSeconds: end, text }));
  return { ...job, segments: JSON.stringify(segments), transcript: toText(captions), editedAt };
}

/** A job's stored segments. */
export function segmentsOf(job: Job): StoredSegment[] {
  return JSON.parse(job.segments ?? '[]') as StoredSegment[];
}
