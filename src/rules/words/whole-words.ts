import { NO_SPACES, wordSegments } from '../text/scripts.ts';
import { type Place, placeWords } from '../text/word-places.ts';

const HAS_LETTERS = /[\p{L}\p{M}\p{N}]/u;
const OPENING_SIGNS = /^[\p{Ps}\p{Pi}¿¡]+$/u;

type Word = { text: string; startSeconds: number; endSeconds: number; confidence: number | null; estimated?: true };

/**
 * The words of an engine joined into whole words. Whisper divides words at apostrophes, hyphens and points, and writing
 * without spaces at its tokens. A word ends at white space, in writing without spaces at a border between two words of
 * ICU's dictionaries. Signs alone are no word: opening ones, and those that only a blank parts from the word before,
 * belong to the next word, others to the word before. What an
 * engine gives as one word stays one: there are no times of its parts.
 * @param text   the engine's own, whose letters the whole words have
 * @param words  with the blanks that the engine gives, which count where the words are not those of the text
 */
export function joinWholeWords<Given extends Word>(text: string, words: readonly Given[]): Given[] {
  const places = placeWords(text, words);
  const isStart = places === null ? startsByBlanks(words) : startsInText(text, places);
  // "$" stands alone before "5" and after a blank.
  const isBefore = (at: number) => at + 1 < words.length && isStart(at) && !isStart(at + 1);
  const isClosing = (at: number) => isSign(words[at]!) && !isBefore(at);
  const joined: Given[] = [];
  let first = 0;
  for (let end = 1; end <= words.length; end += 1) {
    if (end < words.length && (isClosing(end) || isOpening(words[end - 1]!) || !isStart(end))) continue;
    const parts = words.slice(first, end);
    const own = places?.slice(first, end);
    const whole = own
      ? text.slice(own[0]!.start, own.at(-1)!.end)
      : parts
          .map((part) => part.text)
          .join('')
          .trim();
    joined.push(joinParts(parts, whole));
    first = end;
  }
  return joined.filter((word) => word.text !== '');
}

function isSign({ text }: Word): boolean {
  return !HAS_LETTERS.test(text) && !OPENING_SIGNS.test(text.trim());
}

function isOpening({ text }: Word): boolean {
  return OPENING_SIGNS.test(text.trim());
}

/** Only where some words have blanks before them do those without one belong to the word before. */
function startsByBlanks(words: readonly Word[]): (at: number) => boolean {
  const haveBlanks = words.some(({ text }, at) => at > 0 && /^\s/.test(text));
  return (at) => !haveBlanks || /^\s/.test(words[at]!.text) || NO_SPACES.test(words[at]!.text);
}

function startsInText(text: string, places: readonly Place[]): (at: number) => boolean {
  let borders: Set<number> | null = null;
  return (at) => {
    const { end } = places[at - 1]!;
    const { start } = places[at]!;
    if (/\s/.test(text.slice(end, start))) return true;
    if (!NO_SPACES.test(text.slice(Math.max(0, end - 2), start + 2))) return false;
    borders ??= new Set(wordSegments(text).map(({ index }) => index));
    return borders.has(start);
  };
}

function joinParts<Given extends Word>(parts: readonly Given[], text: string): Given {
  // The parts with times have those of the word.
  const timed = parts.filter(({ estimated }) => !estimated);
  const [first, ...others] = timed.length > 0 ? timed : parts;
  const confidences = parts.map(({ confidence }) => confidence).filter((confidence) => confidence !== null);
  const mean = confidences.reduce((sum, confidence) => sum + confidence, 0) / confidences.length;
  return {
    ...first!,
    text,
    endSeconds: Math.max(first!.endSeconds, ...others.map(({ endSeconds }) => endSeconds)),
    confidence: confidences.length < parts.length ? null : mean,
  };
}
