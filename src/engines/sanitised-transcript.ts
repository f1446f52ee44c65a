import { joinWholeWords } from '../rules/words/whole-words.ts';
import { EngineError, type Segment, type Transcript, type Word } from './engine.ts';

// The form of BCP 47: whoever shows the name of a language relies on it.
const LANGUAGE_TAG = /^[a-z]{2,8}(-[a-z0-9]{1,8})*$/i;

/**
 * An engine's transcript of a piece, fit to be stored: every text is a string, every word a whole one, every time lies
 * inside the piece, no end lies before its start, and the language has the form of a tag. Engines run foreign code, so
 * their output is checked like any other input.
 * @throws EngineError  when it has no segments, words or times
 */
export function sanitiseTranscript(given: Transcript | undefined, pieceSeconds: number): Transcript {
  if (!Array.isArray(given?.segments)) throw invalidTranscript();
  const isTag = typeof given.language === 'string' && LANGUAGE_TAG.test(given.language);
  const language = isTag ? given.language : null;
  const segments = given.segments.map((segment) => sanitiseSegment(segment, pieceSeconds));
  const marks = { ...(given.isCut === true && { isCut: true }), ...(given.hasErrors === true && { hasErrors: true }) };
  return { language, segments, ...marks };
}

function sanitiseSegment(segment: Segment, pieceSeconds: number): Segment {
  if (!Array.isArray(segment?.words)) throw invalidTranscript();
  const words = segment.words.map((word) => ({
    ...sanitisePart(word, pieceSeconds),
    ...(word.estimated === true && { estimated: word.estimated }),
  }));
  const whole = sanitisePart(segment, pieceSeconds);
  return { ...whole, words: joinWholeWords(whole.text, words) };
}

function sanitisePart(part: Word | undefined, pieceSeconds: number): Word {
  const { text, startSeconds, endSeconds, confidence } = part ?? ({} as Partial<Word>);
  if (typeof text !== 'string' || !Number.isFinite(startSeconds) || !Number.isFinite(endSeconds)) {
    throw invalidTranscript();
  }
  const start = Math.min(Math.max(0, startSeconds!), pieceSeconds);
  const end = Math.min(Math.max(start, endSeconds!), pieceSeconds);
  const isValid = typeof confidence === 'number' && confidence >= 0 && confidence <= 1;
  return { text, startSeconds: start, endSeconds: end, confidence: isValid ? confidence : null };
}

function invalidTranscript(): EngineError {
  return new EngineError('engine_error', 'The speech engine gave no transcript that makes sense.');
}
