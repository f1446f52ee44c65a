import type { Segment, Transcript, Word } from '../../engines/engine.ts';
import { EngineError } from '../../engines/engine.ts';

/**
 * What an engine said of a piece, fit to be stored: every text a string, every time inside the piece and no end before its
 * start. Engines run foreign code, so that their word is checked like any other input.
 * @throws EngineError  when it is no transcript at all
 */
export function sanitiseTranscript(said: Transcript | undefined, pieceSeconds: number): Transcript {
  if (!Array.isArray(said?.segments)) throw nonsense();
  const language = typeof said.language === 'string' ? said.language : null;
  const segments = said.segments.map((segment) => sanitiseSegment(segment, pieceSeconds));
  return { language, segments, ...(said.isCut === true && { isCut: true }) };
}

function sanitiseSegment(segment: Segment, pieceSeconds: number): Segment {
  if (!Array.isArray(segment?.words)) throw nonsense();
  const words = segment.words.map((word) => sanitisePart(word, pieceSeconds));
  return { ...sanitisePart(segment, pieceSeconds), words };
}

function sanitisePart(part: Word | undefined, pieceSeconds: number): Word {
  const { text, startSeconds, endSeconds, confidence } = part ?? ({} as Partial<Word>);
  if (typeof text !== 'string' || !Number.isFinite(startSeconds) || !Number.isFinite(endSeconds)) throw nonsense();
  const start = Math.min(Math.max(0, startSeconds!), pieceSeconds);
  const end = Math.min(Math.max(start, endSeconds!), pieceSeconds);
  const isSure = typeof confidence === 'number' && confidence >= 0 && confidence <= 1;
  return { text, startSeconds: start, endSeconds: end, confidence: isSure ? confidence : null };
}

function nonsense(): EngineError {
  return new EngineError('engine_error', 'The speech engine gave no transcript that makes sense.');
}
