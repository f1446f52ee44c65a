import type { Word } from '../../engines/engine.ts';
import type { SegmentReason } from '../../rules/live/live-segments.ts';
import { openReplacer } from '../../rules/transcript/replacements.ts';
import type { Job } from '../job.ts';
import { segmentsJson } from '../transcript.ts';

/** A final segment of a live session. Times are seconds from the start of the session. */
export type LiveSegment = {
  /** 1, 2, 3, … without holes: a client names the last one that it has. */
  number: number;
  startSeconds: number;
  endSeconds: number;
  text: string;
  confidence: number | null;
  reason: SegmentReason;
  words: Word[];
  language: string | null;
};

/** The segment as the event streams of its job show it: a list of one, as JSON text. */
export function segmentsOf(segment: LiveSegment, wordTimes: boolean): string {
  return segmentsJson({ segments: [segment] }, wordTimes);
}

/** The segment as it is stored: read by `readMessage`, and sent again when its client comes back. */
export function messageOf(segment: LiveSegment): string {
  return JSON.stringify(segment);
}

/** The segment that `messageOf` made a text of. */
export function readMessage(message: string): LiveSegment {
  return JSON.parse(message) as LiveSegment;
}

/** What the job's replacements make of a segment before it is stored. */
export function editOf({ options }: Pick<Job, 'options'>): (segment: LiveSegment) => LiveSegment {
  const replace = options.replacements ? openReplacer(options.replacements) : null;
  return (segment) => (replace ? replace(segment) : segment);
}
