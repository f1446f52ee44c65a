import { NO_SPACES, wordSegments } from '../text/scripts.ts';

/** A segment of a transcript, as far as captions need it. `words` may be empty or absent. */
export type CaptionSegment = {
  text: string;
  startSeconds: number;
  endSeconds: number;
  words?: readonly { text: string; startSeconds: number; endSeconds: number }[];
  /** Segments of several channels may overlap. */
  channel?: number;
  /** Who speaks, to be shown; null or absent for no name. */
  name?: string | null;
  /** Counts the changes of the name before this segment; 0 when absent. */
  turn?: number;
};

/** The smallest part of a text that a line can begin with. */
export type CaptionWord = {
  text: string;
  /** In columns: East Asian wide characters take two. */
  width: number;
  /** 1 when a space stands before it within a line, else 0. */
  space: number;
  startMs: number;
  /** Never before `startMs`. */
  endMs: number;
  /** The last word of its segment. */
  isLast: boolean;
  name: string | null;
  turn: number;
};

type Span = { startMs: number; endMs: number };
type Part = Pick<CaptionWord, 'text' | 'width' | 'space'>;

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const PRINTABLE_ASCII = /^[ -~]*$/;
// Made at its first use: the data of ICU takes 1 MB.
let graphemesOf: Intl.Segmenter | undefined;

/**
 * The words of the segments in order, with times that never go back. The text is that of the segments. The times are
 * those of the engine's words where both have the same letters; else the time of the segment is shared out by width.
 */
export function captionWords(segments: readonly CaptionSegment[]): CaptionWord[] {
  const words: CaptionWord[] = [];
  let earliestMs = 0;
  for (const segment of segments) {
    const parts = partsOf(segment.text);
    const spans = spansFromWords(parts, segment.words ?? []) ?? spansByWidth(parts, segment);
    for (const [i, part] of parts.entries()) {
      const startMs = Math.max(earliestMs, spans[i]!.startMs);
      const isLast = i === parts.length - 1;
      const endMs = Math.max(startMs, spans[i]!.endMs);
      words.push({ ...part, startMs, endMs, isLast, name: segment.name ?? null, turn: segment.turn ?? 0 });
      earliestMs = startMs;
    }
  }
  return words;
}

/** The segments of all channels with their turns, so that a name is shown where it changes, in whichever channel. */
export function countTurns(segments: readonly CaptionSegment[]): CaptionSegment[] {
  let turn = 0;
  return segments.map((segment, at) => {
    if (at > 0 && (segment.name ?? null) !== (segments[at - 1]!.name ?? null)) turn += 1;
    return { ...segment, turn };
  });
}

/** The words with the name before the first word of each turn, as a part of that word. */
export function prefixNames(words: readonly CaptionWord[]): CaptionWord[] {
  return words.map((word, at) => {
    if (word.name === null || word.turn === words[at - 1]?.turn) return word;
    const text = `${word.name}: ${word.text}`;
    return { ...word, text, width: widthOf(text) };
  });
}

/** Splits at white space, and text of languages without spaces at the words that Unicode's rules find. */
function partsOf(text: string): Part[] {
  const parts: Part[] = [];
  for (const chunk of text.split(/[\s\u0000-\u001f\u007f\u0085]+/).filter((some) => some !== '')) {
    const pieces = NO_SPACES.test(chunk) ? splitWithoutSpaces(chunk) : [chunk];
    for (const [i, piece] of pieces.entries()) {
      parts.push({ text: piece, width: widthOf(piece), space: i === 0 ? 1 : 0 });
    }
  }
  return parts;
}

/** Punctuation stays with the word before it. */
function splitWithoutSpaces(chunk: string): string[] {
  const pieces: string[] = [];
  for (const { segment, isWordLike } of wordSegments(chunk)) {
    if (isWordLike || pieces.length === 0) pieces.push(segment);
    else pieces[pieces.length - 1] += segment;
  }
  return pieces;
}

function widthOf(text: string): number {
  if (PRINTABLE_ASCII.test(text)) return text.length;
  graphemesOf ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  let width = 0;
  for (const { segment } of graphemesOf.segment(text)) width += WIDE.test(segment) ? 2 : 1;
  return width;
}

/** Null when the words are not those of the text: an engine may leave out punctuation, but no letters. */
function spansFromWords(parts: Part[], words: NonNullable<CaptionSegment['words']>): Span[] | null {
  // The word to which each letter of the text belongs.
  const owners: number[] = [];
  let letters = '';
  for (const [i, { text }] of words.entries()) {
    const own = lettersOf(text);
    letters += own;
    for (let count = 0; count < own.length; count++) owners.push(i);
  }
  if (letters === '' || letters !== parts.map(({ text }) => lettersOf(text)).join('')) return null;
  let position = 0;
  return parts.map(({ text }) => {
    const length = lettersOf(text).length;
    const first = words[owners[Math.min(position, owners.length - 1)]!]!;
    const last = length === 0 ? null : words[owners[position + length - 1]!]!;
    position += length;
    const startMs = wholeMs(first.startSeconds);
    return { startMs, endMs: last ? wholeMs(last.endSeconds) : startMs };
  });
}

function lettersOf(text: string): string {
  return text.replace(/[^\p{L}\p{M}\p{N}]/gu, '').toLowerCase();
}

function spansByWidth(parts: Part[], { startSeconds, endSeconds }: CaptionSegment): Span[] {
  const startMs = wholeMs(startSeconds);
  const durationMs = Math.max(0, wholeMs(endSeconds) - startMs);
  const total = parts.reduce((sum, { width }) => sum + width + 1, 0);
  let before = 0;
  return parts.map(({ width }) => {
    const from = startMs + Math.round((durationMs * before) / total);
    before += width + 1;
    return { startMs: from, endMs: startMs + Math.round((durationMs * before) / total) };
  });
}

/** Seconds as whole milliseconds; 0 for what is no time. */
export function wholeMs(seconds: number): number {
  return Number.isFinite(seconds) ? Math.max(0, Math.round(seconds * 1000)) : 0;
}
