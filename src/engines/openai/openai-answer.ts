import { lettersOf } from '../../rules/text/letter-places.ts';
import { joinWords } from '../../rules/text/word-places.ts';
import type { Transcript } from '../engine.ts';
import { type GivenPart, readAnswerParts } from './answer-parts.ts';
import { placeSegments, timeSegments } from './answer-segments.ts';
import { assignWords, placeGivenWords } from './answer-words.ts';
import { languageCode } from './language-names.ts';

/**
 * The transcript in the body of a speech server's response, which may have words, segments or only text. Its letters
 * are those of the answer's text, whatever the segments and words hold; times are inside the piece and in the order of
 * the text. Null for other bodies, such as an error with status 200.
 */
export function readOpenaiAnswer(body: string, pieceSeconds: number): Transcript | null {
  const answer = readAnswerParts(body, pieceSeconds);
  if (answer === null) return null;
  const language = languageCode(answer.language);
  const text = textOf(answer.text ?? '', answer.segments);
  if (text === '') return { segments: [], language };
  const words = placeGivenWords(text, answer.words);
  const placed = placeSegments(text, answer.segments, words);
  const haveTimes = [...placed, ...words].some(({ startSeconds, endSeconds }) => (startSeconds ?? endSeconds) !== null);
  const isWhole = answer.segments.length === 0 || placed.length === 0 || !haveTimes;
  const whole = {
    text,
    place: { start: 0, end: text.length },
    startSeconds: 0,
    endSeconds: pieceSeconds,
    confidence: null,
  };
  const segments = isWhole ? [whole] : timeSegments(placed, words, pieceSeconds);
  return { segments: assignWords(segments, words), language };
}

/**
 * The text of an answer in one line; that of the segments where it has none. whisper.cpp ends each segment with a new
 * line, inside of words too where it divides them: only the blanks of the segments tell.
 */
function textOf(given: string, segments: readonly GivenPart[]): string {
  const haveBlanks = segments.some(({ text }) => /^\s/.test(text));
  const joined = haveBlanks ? segments.map(({ text }) => text).join('') : joinWords(segments);
  const isOfSegments = haveBlanks && /\n/.test(given) && lettersOf(given).key === lettersOf(joined).key;
  const text = given.trim() === '' || isOfSegments ? joined : given;
  const lines = text.split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '').join(' ');
}
