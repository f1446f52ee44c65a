import { NO_SPACES } from '../text/scripts.ts';
import { type Place, placeWords } from '../text/word-places.ts';

/** A word or phrase of the transcript, and what is written in its place; nothing: it is left out. */
export type Replacement = { from: string; to: string };

type Word = { text: string; startSeconds: number; endSeconds: number; confidence: number | null; estimated?: true };
type Segment = { text: string; words: Word[] };
type Edit = Place & { to: string };

const LETTER = /[\p{L}\p{M}\p{N}]/u;
const ENDS_IN_WORD = /[\p{L}\p{M}\p{N}]$/u;
// An apostrophe with letters continues a word (can't), but for the English possessive (Kennedy's).
const COMMA_AND_SPACES = /[,،、，]?\s*/y;
const WORD_GOES_ON = /^(?:[\p{L}\p{M}\p{N}]|['’](?!s(?![\p{L}\p{M}\p{N}]))\p{L})/iu;

/**
 * A function that applies replacements to a segment: whole words, in any case, in one pass from left to right, of
 * several that begin at the same place the longest. What is written is not replaced again. A replaced phrase is one
 * word, from the start of its first word to the end of its last, with their least confidence, and with estimated times
 * where one of them has these; other words keep their text, times and order. What is left out takes a comma and the
 * spaces after it with it, at the end of the text those before it.
 * @param replacements  each with a letter or digit in `from`; no two with the same `from` in any case
 */
export function openReplacer(replacements: readonly Replacement[]) {
  const phrases = replacements.map(phraseOf);
  const editsOf = (text: string) => findEdits(text, phrases).map((found) => widenRemoval(found, text));

  return <Spoken extends Segment>(segment: Spoken): Spoken => {
    const { text, words } = segment;
    const edits = editsOf(text);
    const spans = placeWords(text, words);
    if (spans !== null) return { ...segment, text: edit(text, edits), words: editWords(words, { text, spans, edits }) };
    // The words are not those of the text: both are searched.
    const joined = joinWords(words);
    const edited = editWords(words, { ...joined, edits: editsOf(joined.text) });
    return { ...segment, text: edit(text, edits), words: edited };
  };
}

type Phrase = { to: string; pattern: RegExp; isBoundedBefore: boolean; isBoundedAfter: boolean };

function phraseOf({ from, to }: Replacement): Phrase {
  const characters = [...from];
  return {
    to,
    // One pattern for 200 phrases with their bounds takes 7 s for an hour of speech, these take 0.1 s.
    pattern: new RegExp(from.split(/\s+/).map(literal).join('\\s+'), 'giu'),
    isBoundedBefore: isBounded(characters[0]!),
    isBoundedAfter: isBounded(characters.at(-1)!),
  };
}

/** In the order of the text, none overlapping another. */
function findEdits(text: string, phrases: readonly Phrase[]): Edit[] {
  const found = phrases.flatMap((phrase) => occurrences(text, phrase));
  found.sort((one, other) => one.start - other.start || other.end - one.end);
  let position = 0;
  return found.filter(({ start, end }) => {
    if (start < position) return false;
    position = end;
    return true;
  });
}

/** The edit with the comma and the spaces that would be left over where nothing is written. */
function widenRemoval(one: Edit, text: string): Edit {
  if (one.to !== '') return one;
  COMMA_AND_SPACES.lastIndex = one.end;
  const end = one.end + COMMA_AND_SPACES.exec(text)![0].length;
  return { ...one, end, start: end === text.length ? text.slice(0, one.start).trimEnd().length : one.start };
}

/** All of them, overlapping ones too. */
function occurrences(text: string, { to, pattern, isBoundedBefore, isBoundedAfter }: Phrase): Edit[] {
  const found: Edit[] = [];
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const start = match.index;
    const end = start + match[0].length;
    const isWhole =
      !(isBoundedBefore && ENDS_IN_WORD.test(text.slice(Math.max(0, start - 2), start))) &&
      !(isBoundedAfter && WORD_GOES_ON.test(text.slice(end, end + 4)));
    if (isWhole) found.push({ start, end, to });
    // A pair of surrogates is one character.
    pattern.lastIndex = start + String.fromCodePoint(text.codePointAt(start)!).length;
  }
  return found;
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

/** Whether a word that begins or ends with the character ends there only at a character of another kind. */
function isBounded(character: string): boolean {
  return LETTER.test(character) && !NO_SPACES.test(character);
}

function edit(text: string, edits: readonly Edit[], offset = 0): string {
  let edited = '';
  let position = 0;
  for (const { start, end, to } of edits) {
    edited += text.slice(position, start - offset) + to;
    position = end - offset;
  }
  return edited + text.slice(position);
}

function joinWords(words: readonly Word[]): { text: string; spans: Place[] } {
  let text = '';
  const spans = words.map((word) => {
    const start = text === '' ? 0 : text.length + 1;
    text += text === '' ? word.text : ` ${word.text}`;
    return { start, end: text.length };
  });
  return { text, spans };
}

type EditedText = { text: string; spans: readonly Place[]; edits: readonly Edit[] };

/** Words that an edit overlaps become one. */
function editWords(words: readonly Word[], { text, spans, edits }: EditedText): Word[] {
  const edited: Word[] = [];
  let next = 0;
  for (let first = 0; first < words.length; ) {
    while (next < edits.length && edits[next]!.end <= spans[first]!.start) next++;
    let last = first;
    let { start, end } = spans[first]!;
    const own: Edit[] = [];
    while (next < edits.length && edits[next]!.start < end) {
      const one = edits[next++]!;
      own.push(one);
      start = Math.min(start, one.start);
      end = Math.max(end, one.end);
      while (last + 1 < words.length && spans[last + 1]!.start < end) end = Math.max(end, spans[++last]!.end);
    }
    const merged = words.slice(first, last + 1);
    const written = own.length === 0 ? null : edit(text.slice(start, end), own, start);
    if (written === null) edited.push(words[first]!);
    else if (written !== '') edited.push(mergeWords(merged, written));
    first = last + 1;
  }
  return edited;
}

function mergeWords(words: readonly Word[], text: string): Word {
  const confidences = words.map(({ confidence }) => confidence);
  const known = confidences.filter((confidence) => confidence !== null);
  return {
    ...words[0]!,
    text,
    endSeconds: Math.max(...words.map(({ endSeconds }) => endSeconds)),
    confidence: known.length < confidences.length ? null : Math.min(...known),
    ...(words.some(({ estimated }) => estimated) && { estimated: true as const }),
  };
}
