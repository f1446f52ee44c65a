import { createRequire } from 'node:module';
import { KOREAN, type Stem } from '../../rules/search/search-query.ts';

// By the language codes of transcripts.
const MODULES: Readonly<Record<string, string>> = {
  ar: 'arabic',
  da: 'danish',
  de: 'german',
  el: 'greek',
  en: 'english',
  es: 'spanish',
  fi: 'finnish',
  fr: 'french',
  hu: 'hungarian',
  it: 'italian',
  nl: 'dutch',
  no: 'norwegian',
  nb: 'norwegian',
  nn: 'norwegian',
  pt: 'portuguese',
  ro: 'romanian',
  ru: 'russian',
  sv: 'swedish',
  tr: 'turkish',
  uk: 'ukrainian',
};

/** The languages whose words are found in all their forms. */
export const STEMMED_LANGUAGES = [...Object.keys(MODULES), KOREAN];

// A stem takes 1 to 12 µs, depending on the language. 2 MB for each language in use.
const MAX_CACHED = 20_000;
// Longer words are no words of a language.
const MAX_STEMMED_CHARS = 40;

const require = createRequire(import.meta.url);
const known = new Map<string, { stemmer: (word: string) => string; stems: Map<string, string> }>();

/**
 * The stem of a folded word; null where the language has no stemmer.
 * Loads the stemmer of a language when it is first used.
 */
export const stemOf: Stem = (language, word) => {
  const name = Object.hasOwn(MODULES, language) ? MODULES[language] : undefined;
  if (name === undefined || word.length > MAX_STEMMED_CHARS) return null;
  let loaded = known.get(name);
  if (!loaded) {
    loaded = { ...(require(`@orama/stemmers/${name}`) as { stemmer: (word: string) => string }), stems: new Map() };
    known.set(name, loaded);
  }
  const { stems, stemmer } = loaded;
  let stem = stems.get(word);
  if (stem === undefined) {
    stem = stemmer(word);
    if (stems.size >= MAX_CACHED) stems.clear();
    stems.set(word, stem);
  }
  return stem;
};
