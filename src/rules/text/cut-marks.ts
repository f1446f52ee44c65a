import { type CutWords, cutWordsOf } from './function-words.ts';

/**
 * A cut between two texts.
 * @property before        the text up to the cut, which goes on after it
 * @property pauseSeconds  without speech; 0 where speech goes on
 * @property language      BCP 47; null where it is not known: then only a small letter counts
 * @property isEndCut      `before` ends where the engine's audio did
 * @property isStartCut    `after` begins where the engine's audio did
 */
export type Cut = {
  before: string;
  after: string;
  pauseSeconds: number;
  language: string | null;
  isEndCut: boolean;
  isStartCut: boolean;
};

/** Which signs at a cut the cut has made, and no speaker. */
export type MadeByCut = { isStopMade: boolean; isCapitalMade: boolean };

/** What the word after a cut says of it; `small`: the engine gave no capital. */
type Start = 'hanging' | 'function' | 'small' | 'other';

/**
 * After such a pause a sentence may have ended, whatever its words are. Phrases are divided there too. In shorter ones
 * only words tell: readers paused 0.5 to 1.1 s between sentences, and up to 0.9 s within them. Where no pause was
 * found, most full stops before words such as "it" were right too.
 */
const LONG_PAUSE_SECONDS = 1.2;

const STOP = /(?<=[\p{L}\p{M}])(?:\.|\.\.\.|…)$/u;
const SENTENCE_MARK = /[.?!…。？！]["'”’»)\]]*$/u;
const WORD_MAX_CHARS = 64;
const LAST_WORD = /[\p{L}\p{M}\p{N}.'’-]+$/u;
const FIRST_WORD = /^(?<word>\p{Lu}?\p{Ll}*)(?:['’]|\s+)(?<next>\p{L})/u;
/** Scripts with capitals at the starts of sentences: those of Georgian are small letters alone. */
const SMALL = /^(?=[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Armenian}])\p{Ll}/u;
const ABBREVIATIONS = new Set(
  `mr mrs ms dr st prof rev gen col capt lt sgt hon jr sr vs etc no nos vol fig inc ltd co corp dept approx bzw usw ca
  nr str bd hr fr frl geb evtl ggf mme mlle cf env sra srta dra ud uds pág sig dott ecc`.split(/\s+/),
);

/**
 * Models end each piece of audio as a sentence, and begin each with a capital. At a cut in a sentence neither is the
 * speaker's:
 *
 * | before the cut | after it | up to 1.2 s | a longer pause |
 * |---|---|---|---|
 * | no mark, comma | function word | small letter | – |
 * | full stop | small letter | no stop | – |
 * | full stop | word that hangs on others ("of") | no stop, small letter | – |
 * | full stop after a word that ends no sentence ("the.") | function word | no stop, small letter | – |
 * | full stop after "not" | clause that asks nothing ("what you can do") | no stop, small letter | – |
 * | all others | | – | – |
 *
 * Names, nouns and "I" are no function words: they keep their capitals in every language.
 */
export function judgeCut(cut: Cut): MadeByCut {
  const nothing = { isStopMade: false, isCapitalMade: false };
  if (cut.pauseSeconds >= LONG_PAUSE_SECONDS) return nothing;
  const words = cutWordsOf(cut.language);
  const start = startOf(cut.after, words);
  if (start === 'other') return nothing;
  const hasCapitalOfCut = start !== 'small' && cut.isStartCut;
  if (!SENTENCE_MARK.test(cut.before)) return { isStopMade: false, isCapitalMade: hasCapitalOfCut };
  if (!cut.isEndCut || !isFullStop(cut.before)) return nothing;
  const goesOn = start === 'small' ? writesCapitals(cut) : hasCapitalOfCut && sentenceGoesOn(cut, start, words!);
  return goesOn ? { isStopMade: true, isCapitalMade: hasCapitalOfCut } : nothing;
}

/** Whether the end of a text may change once the next text is known. */
export function mayChangeAtCut(before: string): boolean {
  return isFullStop(before) || withoutDoubledMarks(before) !== before;
}

/** The text, or its last word, without the full stop at its end. */
export function withoutStop(text: string): string {
  return text.replace(STOP, '');
}

/** The text, or its first word, with a small letter at its start. */
export function withoutCapital(text: string): string {
  return text.replace(/^\p{Lu}/u, (letter) => letter.toLowerCase());
}

/** Marks that stand twice after a word, once: `,,`, `..` and `,.`. An ellipsis stays. */
export function withoutDoubledMarks(text: string): string {
  return text
    .replace(/(?<=[\p{L}\p{M}\p{N}])([,;:、])\1+(?=\s|$)/gu, '$1')
    .replace(/(?<=[\p{L}\p{M}\p{N}])(?:[,;:] ?\.|\.\.)(?=\s|$)/gu, '.')
    .replace(/(?<!。)。。(?!。)/gu, '。');
}

/** The text without a mark at its start, where the text before has one already. */
export function withoutLeadingMark(text: string, before: string): string {
  return /[.,;:?!…、。？！]$/u.test(before) ? text.replace(/^[.,;:、。](?:\s+|$)/u, '') : text;
}

function startOf(after: string, words: CutWords | null): Start {
  if (SMALL.test(after)) return 'small';
  const { word = '', next = '' } = FIRST_WORD.exec(after)?.groups ?? {};
  const key = word.toLowerCase();
  if (words === null || !words.functionWords.has(key)) return 'other';
  if (words.isInNames && /\p{Lu}/u.test(next)) return 'other';
  return words.hanging.has(key) ? 'hanging' : 'function';
}

function sentenceGoesOn({ before, after }: Cut, start: Start, words: CutWords): boolean {
  if (start === 'hanging') return true;
  const last = lastWordOf(before);
  if (words.unfinished.has(last)) return true;
  const [first] = /^\p{L}+/u.exec(after.toLowerCase())!;
  return last === words.negation && words.clauseWords.has(first) && !/^[^.?!…]*\?/u.test(after);
}

/** Whether a text ends in a full stop that is not part of an abbreviation or a number. */
function isFullStop(before: string): boolean {
  if (!STOP.test(before)) return false;
  const word = lastWordOf(before);
  return word.length > 1 && !word.includes('.') && !ABBREVIATIONS.has(word);
}

function lastWordOf(text: string): string {
  return (
    LAST_WORD.exec(text.slice(-WORD_MAX_CHARS))?.[0]
      .replace(/^['’.-]+|[….]+$/gu, '')
      .toLowerCase() ?? ''
  );
}

/** An engine without capitals shows no start of a sentence. */
function writesCapitals({ before, after }: Cut): boolean {
  return /\p{Lu}/u.test(before + after);
}
