import { parseArgs } from 'node:util';
import { findModel } from '../models/catalogue.ts';
import { EVERY_LANGUAGE } from '../models/language-advice.ts';
import { modelLanguage } from '../rules/jobs/language.ts';

export const USAGE = 'Usage: npm run demo -- my.mp3 --language de';

/** What the demo is asked to transcribe. @property language  BCP 47; null: the model finds out */
export type DemoRequest = { file: string | null; language: string | null };

/** The arguments of the demo. @throws Error  that says how to write them */
export function readRequest(args: string[]): DemoRequest {
  try {
    const { values, positionals } = parseArgs({
      args,
      options: { language: { type: 'string' } },
      allowPositionals: true,
    });
    const [language = null] = values.language === undefined ? [] : Intl.getCanonicalLocales(values.language);
    if (positionals.length > 1) throw new Error('One file at a time.');
    return { file: positionals[0] ?? null, language };
  } catch (cause) {
    throw new Error(`${(cause as Error).message} ${USAGE}`, { cause });
  }
}

/**
 * The model that is missing for a language, of those that need no hub; null where an installed one knows it.
 * English comes with the first model that a service fetches by itself.
 * @param installed  languages of each installed model; null: unknown, it is asked to transcribe any
 * @throws Error  where no model knows the language
 */
export function missingModel(
  language: string | null,
  installed: readonly { languages: readonly string[] | null }[],
): string | null {
  if (language === null || modelLanguage(language, ['en']) !== null) return null;
  const knows = (languages: readonly string[] | null) =>
    languages === null || modelLanguage(language, languages) !== null;
  if (installed.some(({ languages }) => knows(languages))) return null;
  const { name, languages } = findModel(EVERY_LANGUAGE);
  if (!knows(languages)) throw new Error(`No model of the catalogue knows the language ${language}.`);
  return name;
}

export type TimedWord = { text: string; start: number };

/** Words with the seconds at which they begin, some to a line. */
export function timedLines(words: readonly TimedWord[]): string[] {
  const timed = words.map(({ text, start }) => `${start.toFixed(2)} ${text}`);
  const lines = Array.from({ length: Math.ceil(timed.length / WORDS_PER_LINE) }, (_, line) =>
    timed.slice(line * WORDS_PER_LINE, (line + 1) * WORDS_PER_LINE).join('   '),
  );
  if (lines.length <= LINES_MAX) return lines;
  return [...lines.slice(0, LINES_MAX), `… and ${words.length - LINES_MAX * WORDS_PER_LINE} more words`];
}

const WORDS_PER_LINE = 6;
const LINES_MAX = 8;
