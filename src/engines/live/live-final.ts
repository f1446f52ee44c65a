import type { Transcript } from '../engine.ts';
import type { LiveFinal } from './live-engine.ts';

/** A transcript of a segment as its final text. */
export function finalOf({ segments, language }: Transcript): LiveFinal {
  const known = segments.map(({ confidence }) => confidence).filter((confidence) => confidence !== null);
  return {
    text: segments
      .map(({ text }) => text.trim())
      .filter((text) => text !== '')
      .join(' '),
    words: segments.flatMap(({ words }) => words),
    confidence: known.length > 0 ? Math.min(...known) : null,
    language,
  };
}
