import { editSegments } from '../../rules/jobs/transcript-edits.ts';
import { toText, toTurns } from '../../rules/jobs/transcript-text.ts';
import { shownNames } from '../../rules/speakers/speaker-merges.ts';
import { nameSpeakers } from '../../rules/speakers/speaker-names.ts';
import type { Job } from '../job.ts';
import type { TranscriptJob } from '../transcript.ts';
import type { StoredEdits } from './edit-store.ts';

type StoredSegment = {
  start: number;
  end: number;
  text: string;
  speaker?: string | null;
  words?: { speaker?: string | null }[];
};

/** The text of a completed job as it was edited. */
export type EditedText = { segments: string; transcript: string };

/** The edited text of a completed job. */
export function editText(job: Job, { edits, speakerNames, speakerMerges }: Omit<StoredEdits, 'editedAt'>): EditedText {
  const names = shownNames(speakerNames, speakerMerges);
  const merged = nameSpeakers(editSegments(segmentsOf(job), edits ?? {}), speakerMerges ?? {});
  const segments = nameSpeakers(merged, names ?? {});
  const transcript = names === null ? toText(segments.map(({ text }) => ({ text }))) : toTurns(segments);
  return { segments: JSON.stringify(segments), transcript };
}

/** A completed job with its edited text; unchanged where nothing is edited. */
export function withText(job: Job, text: EditedText | null, { editedAt, ...stored }: StoredEdits): TranscriptJob {
  if (text === null || editedAt === null) return job;
  const speakerNames = shownNames(stored.speakerNames, stored.speakerMerges);
  const { speakerMerges } = stored;
  return { ...job, ...text, editedAt, ...(speakerNames && { speakerNames }), ...(speakerMerges && { speakerMerges }) };
}

/** A job's stored segments. */
export function segmentsOf(job: Job): StoredSegment[] {
  return JSON.parse(job.segments ?? '[]') as StoredSegment[];
}
