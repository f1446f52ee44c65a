import type { Word } from '../../engines/engine.ts';
import type { SegmentReason } from '../../rules/live/live-segments.ts';

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
