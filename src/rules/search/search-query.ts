import { withoutParticle } from './korean.ts';
import { withoutAccents, wordsIn } from './words.ts';

/**
 * A word, or several words in a row.
 * @property isExact  in quotes: its words are looked for as they are written; else in all forms, without accents too
 */
export type SearchTerm = { words: string[]; isExact: boolean };

/** Alternatives, of which one must hold: all of its terms near each other, and none of those that are excluded. */
export type SearchQuery = { terms: SearchTerm[]; excluded: SearchTerm[] }[];

/** The stem of a word by language code; null where the language has no stemmer. */
export type Stem = (language: string, word: string) => string | null;

/** Has particles, and no stems. */
export const KOREAN = 'ko';

const PART = /(-?)(?:"([^"]*)"?|([^\s"]+))/gu;

/**
 * Reads a query: words, `"phrase"`, `-not`, and `or` between alternatives. A word with punctuation inside, such as
 * don't or 3.5, stands for its parts in a row. Null when an alternative has no word to look for.
 */
export function parseSearchQuery(text: string): SearchQuery | null {
  const query: SearchQuery = [{ terms: [], excluded: [] }];
  for (const [, minus, quoted, bare] of text.matchAll(PART)) {
    if (minus === '' && bare?.toLowerCase() === 'or') {
      query.push({ terms: [], excluded: [] });
      continue;
    }
    const words = wordsIn(quoted ?? bare!).map(({ word }) => word);
    if (words.length === 0) continue;
    const alternative = query.at(-1)!;
    const list = minus === '-' ? alternative.excluded : alternative.terms;
    list.push({ words, isExact: quoted !== undefined });
  }
  return query.every(({ terms }) => terms.length > 0) ? query : null;
}

/**
 * A query in PostgreSQL's form `tsquery`, for the words that `indexWords` makes.
 * @param tags       words that must be there as well, see `indexWords`
 * @param languages  in whose forms a word may stand
 */
export function tsqueryOf(query: SearchQuery, { tags, languages, stem }: TsqueryOptions): string {
  const one = (term: SearchTerm) =>
    formsOf(term, { languages, stem })
      .map((forms) => `(${forms.map(quoteLexeme).join(' | ')})`)
      .join(' <-> ');
  const alternatives = query.map(({ terms, excluded }) =>
    [...terms.map((term) => `(${one(term)})`), ...excluded.map((term) => `!(${one(term)})`)].join(' & '),
  );
  return [...tags.map(quoteLexeme), `(${alternatives.map((each) => `(${each})`).join(' | ')})`].join(' & ');
}

type TsqueryOptions = { tags: string[]; languages: readonly string[]; stem: Stem };

/**
 * The forms in which a word is indexed: as it is written and, where that is another, without accents, and its stem. A
 * stem has its language, so that it is no word of another; a tilde keeps a word without accents from those that are
 * written so.
 */
export function indexForms(word: string, language: string | null, stem: Stem): string[] {
  const plain = withoutAccents(word);
  const accented = plain === word ? [] : [`~${plain}`];
  if (language === null) return [word, ...accented];
  if (language === KOREAN) return [word, ...accented, ...withLanguage(language, [withoutParticle(word, 1)], word)];
  // The stem of a word without accents may be another one: lycé of lycees, lyc of lycées.
  const stems = accented.length === 0 ? [stem(language, word)] : [stem(language, word), stem(language, plain)];
  return [word, ...accented, ...withLanguage(language, stems, word)];
}

/** Each stem once; none that is the word. */
function withLanguage(language: string, stems: readonly (string | null)[], word: string): string[] {
  const others = stems.filter((found) => found !== null && found !== word);
  return [...new Set(others.map((found) => `${language}~${withoutAccents(found!)}`))];
}

/** For each word of a term, the indexed forms of the words that it stands for: those with the same stem. */
export function formsOf(
  { words, isExact }: SearchTerm,
  { languages, stem }: { languages: readonly string[]; stem: Stem },
): string[][] {
  if (isExact) return words.map((word) => [word]);
  return words.map((word) => {
    const stems = languages.flatMap((language) =>
      language === KOREAN ? nounForms(word) : stemForms(language, stem(language, word)),
    );
    return [...new Set([...plainForms(word), ...stems])];
  });
}

const plainForms = (word: string) => [word, withoutAccents(word), `~${withoutAccents(word)}`];

function stemForms(language: string, stem: string | null): string[] {
  // Stems have their accents in rows that the release before has indexed.
  return stem === null ? [] : [`${language}~${stem}`, `${language}~${withoutAccents(stem)}`, ...plainForms(stem)];
}

/** A word with any particle; a word of three syllables and more may have one itself. */
function nounForms(word: string): string[] {
  const noun = withoutParticle(word, 2);
  return [`${KOREAN}~${word}`, ...(noun === null ? [] : [noun, `${KOREAN}~${noun}`])];
}

/** A word as PostgreSQL reads it in a tsvector or tsquery. */
export function quoteLexeme(word: string): string {
  return `'${word.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}
