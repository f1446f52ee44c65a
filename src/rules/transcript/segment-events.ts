const SEGMENTS_PER_CHUNK = 100;

/**
 * Segments as server-sent events `segment`, of which each text has up to a hundred.
 * @param firstIndex  the number of the first segment in the transcript
 */
export function segmentEvents(segments: readonly object[], firstIndex: number): string[] {
  const events = segments.map(
    (segment, at) => `event: segment\ndata: ${JSON.stringify({ index: firstIndex + at, ...segment })}\n\n`,
  );
  const chunks: string[] = [];
  for (let start = 0; start < events.length; start += SEGMENTS_PER_CHUNK)
    chunks.push(events.slice(start, start + SEGMENTS_PER_CHUNK).join(''));
  return chunks;
}
