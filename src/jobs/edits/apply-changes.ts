import { areTooLong, changeEdits, type SegmentChange, unknownSegment } from '../../rules/jobs/transcript-edits.ts';
import type { TranscriptChunk } from '../../rules/search/chunks.ts';
import { changeMerges, type MergeChanges } from '../../rules/speakers/speaker-merges.ts';
import { changeNames, type NameChanges, unknownSpeaker } from '../../rules/speakers/speaker-names.ts';
import type { Job } from '../job.ts';
import { chunksOf } from '../search/search-index.ts';
import type { NewEdits, StoredEdits } from './edit-store.ts';
import { type EditedText, editText, segmentsOf } from './edited-transcript.ts';

export type Changes = { texts: SegmentChange[]; names: NameChanges; merges: MergeChanges };

/** What comes of changes to a transcript; `text` is null where nothing is edited any more. */
export type Changed =
  | { kind: 'unknown_segment'; index: number; segmentCount: number }
  | { kind: 'unknown_speaker'; param: 'speakers' | 'merged_speakers' }
  | { kind: 'merged_into_itself' }
  | { kind: 'too_long' }
  | (NewEdits & { kind: 'changed'; text: EditedText | null; chunks: TranscriptChunk[] });

/** The edits of a completed job after further changes, its edited text, and the chunks by which that is searched. */
export function applyChanges(job: Job, before: StoredEdits, { texts, names, merges }: Changes): Changed {
  const segments = segmentsOf(job);
  const index = unknownSegment(texts, segments);
  if (index !== null) return { kind: 'unknown_segment', index, segmentCount: segments.length };
  if (unknownSpeaker(Object.keys(names), segments) !== null) return { kind: 'unknown_speaker', param: 'speakers' };
  const merged = Object.entries(merges).flatMap(([label, into]) => (into === null ? [label] : [label, into]));
  if (unknownSpeaker(merged, segments) !== null) return { kind: 'unknown_speaker', param: 'merged_speakers' };
  const speakerMerges = changeMerges(before.speakerMerges ?? {}, merges);
  if (speakerMerges === null) return { kind: 'merged_into_itself' };
  const edits = changeEdits(before.edits ?? {}, texts, segments);
  if (areTooLong(edits, segments)) return { kind: 'too_long' };
  const speakerNames = changeNames(before.speakerNames ?? {}, names);
  const after = { edits, speakerNames, speakerMerges };
  const isEdited = Object.values(after).some((entries) => Object.keys(entries).length > 0);
  const text = isEdited ? editText(job, after) : null;
  return { kind: 'changed', ...after, text, chunks: chunksOf({ ...job, ...text }) };
}
