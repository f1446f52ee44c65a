import {
  areTooLong,
  changeEdits,
  type SegmentChange,
  type TranscriptEdits,
  unknownSegment,
} from '../../rules/jobs/transcript-edits.ts';
import type { TranscriptChunk } from '../../rules/search/chunks.ts';
import {
  changeNames,
  type NameChanges,
  type SpeakerNames,
  unknownSpeaker,
} from '../../rules/speakers/speaker-names.ts';
import type { Job } from '../job.ts';
import { chunksOf } from '../search/search-index.ts';
import type { StoredEdits } from './edit-store.ts';
import { type EditedText, editText, segmentsOf } from './edited-transcript.ts';

export type Changes = { texts: SegmentChange[]; names: NameChanges };

/** What comes of changes to a transcript; `text` is null where nothing is edited any more. */
export type Changed =
  | { kind: 'unknown_segment'; index: number; segmentCount: number }
  | { kind: 'unknown_speaker' }
  | { kind: 'too_long' }
  | {
      kind: 'changed';
      edits: TranscriptEdits;
      speakerNames: SpeakerNames;
      text: EditedText | null;
      chunks: TranscriptChunk[];
    };

type Edits = Pick<StoredEdits, 'edits' | 'speakerNames'>;

/** The edits of a completed job after further changes, its edited text, and the chunks by which that is searched. */
export function applyChanges(job: Job, before: Edits, { texts, names }: Changes): Changed {
  const segments = segmentsOf(job);
  const index = unknownSegment(texts, segments);
  if (index !== null) return { kind: 'unknown_segment', index, segmentCount: segments.length };
  if (unknownSpeaker(names, segments) !== null) return { kind: 'unknown_speaker' };
  const edits = changeEdits(before.edits ?? {}, texts, segments);
  if (areTooLong(edits, segments)) return { kind: 'too_long' };
  const speakerNames = changeNames(before.speakerNames ?? {}, names);
  const hasNames = Object.keys(speakerNames).length > 0;
  const isEdited = hasNames || Object.keys(edits).length > 0;
  const text = isEdited ? editText(job, { edits, speakerNames: hasNames ? speakerNames : null }) : null;
  return { kind: 'changed', edits, speakerNames, text, chunks: chunksOf({ ...job, ...text }) };
}
