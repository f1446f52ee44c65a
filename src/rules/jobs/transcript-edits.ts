/** New texts of segments, by the number of the segment from 0. */
export type TranscriptEdits = Record<string, string>;

/** A change of one segment; null brings back the original text. */
export type SegmentChange = { index: number; text: string | null };

type Segment = { text: string; words?: unknown[] };

// Enough for autosaved edits of every segment, and for texts that grow.
const SPARE_CHARS = 256 * 1024;
const GROWTH = 2;

/** The first change of a segment that there is not; null when there is none. */
export function unknownSegment(changes: readonly SegmentChange[], segments: readonly Segment[]): number | null {
  return changes.find(({ index }) => index >= segments.length)?.index ?? null;
}

/** The edits after further changes. A text that is the original one is no edit. */
export function changeEdits(
  edits: TranscriptEdits,
  changes: readonly SegmentChange[],
  segments: readonly Segment[],
): TranscriptEdits {
  const changed = new Map(Object.entries(edits));
  for (const { index, text } of changes) {
    if (text === null || text === segments[index]!.text) changed.delete(String(index));
    else changed.set(String(index), text);
  }
  return Object.fromEntries(changed);
}

/** Whether the edits have many more characters than the transcript that they belong to. */
export function areTooLong(edits: TranscriptEdits, segments: readonly Segment[]): boolean {
  const originalChars = segments.reduce((sum, { text }) => sum + text.length, 0);
  const editedChars = Object.values(edits).reduce((sum, text) => sum + text.length, 0);
  return editedChars > GROWTH * originalChars + SPARE_CHARS;
}

/**
 * The segments with their new texts. The words of an edited segment are left out: their times are those of other words.
 */
export function editSegments<Part extends Segment>(segments: readonly Part[], edits: TranscriptEdits): Part[] {
  return segments.map((segment, index) => {
    const text = edits[index];
    return text === undefined ? segment : { ...segment, text, ...(segment.words && { words: [] }) };
  });
}
