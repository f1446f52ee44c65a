import type { Sql } from '../../db/database.ts';
import { editSegments } from '../../rules/jobs/transcript-edits.ts';
import { toText, toTurns } from '../../rules/jobs/transcript-text.ts';
import { nameSpeakers } from '../../rules/speakers/speaker-names.ts';
import type { Job } from '../job.ts';
import type { TranscriptJob } from '../transcript.ts';
import { findEdits, type StoredEdits } from './edit-store.ts';

export const TRANSCRIPT_VERSIONS = ['edited', 'original'] as const;
export type TranscriptVersion = (typeof TRANSCRIPT_VERSIONS)[number];

type StoredSegment = {
  start: number;
  end: number;
  text: string;
  speaker?: string | null;
  words?: { speaker?: string | null }[];
};

/** A completed job with its edited transcript; unchanged where `version` is the original, or nothing was edited. */
export async function withVersion(sql: Sql, job: Job, version: TranscriptVersion): Promise<TranscriptJob> {
  return version === 'original' ? job : withEdits(job, await findEdits(sql, job));
}

/** A completed job with its edited transcript. */
export function withEdits(job: Job, { edits, speakerNames, editedAt }: StoredEdits): TranscriptJob {
  if (editedAt === null) return job;
  const segments = nameSpeakers(editSegments(segmentsOf(job), edits ?? {}), speakerNames ?? {});
  const transcript = speakerNames === null ? toText(segments.map(({ text }) => ({ text }))) : toTurns(segments);
  return { ...job, segments: JSON.stringify(segments), transcript, editedAt, ...(speakerNames && { speakerNames }) };
}

/** A job's stored segments. */
export function segmentsOf(job: Job): StoredSegment[] {
  return JSON.parse(job.segments ?? '[]') as StoredSegment[];
}
