import type { Command } from 'commander';
import type { SearchHit } from '#sdk/wire.ts';
import { action, type Io, type Session } from '../../command.ts';
import { addListOptions, type ListOptions, pageOf, showResults } from '../../list.ts';
import { time } from '../../options.ts';
import { addWebOption } from '../../terminal/browser.ts';
import { clockTime } from '../../terminal/format.ts';
import type { Part } from '../../terminal/part.ts';
import { typed } from '../../typed.ts';

type SearchOptions = ListOptions & { language?: string; after?: string; before?: string };

/** `verbatim search` */
export function define(command: Command, io: Io): void {
  command
    .argument('<words...>', 'words, "a phrase", -not, or')
    .option('--language <code>', 'of transcripts in this language')
    .option('--after <time>', 'of jobs created after this time: 2026-11-21, 1h, 7d …', time)
    .option('--before <time>', 'of jobs created before this time', time)
    .addHelpText('after', `\nWords that begin with "-" come after "--": ${typed(io.env, 'search -- budget -draft')}\n`);
  addWebOption(
    addListOptions(command),
    (words: string[]) => `search?q=${encodeURIComponent(words.map(quotePhrase).join(' '))}`,
  ).action(action<[string[]], SearchOptions>(io, search));
}

async function search(session: Session, options: SearchOptions, words: string[]): Promise<void> {
  const { out } = session;
  const client = await session.client();
  const query = {
    q: words.map(quotePhrase).join(' '),
    ...pageOf(options),
    language: options.language,
    created_after: options.after,
    created_before: options.before,
  };
  await showResults(session, options, client.search(query), {
    show: (results) => {
      for (const { job_id, filename, created_at, hits } of results) {
        out.line({ text: job_id, style: 'bold' }, `  ${filename ?? '-'}  ${created_at}`);
        for (const hit of hits) out.line(...describeHit(hit));
      }
    },
    id: ({ job_id }) => job_id,
    empty: 'Nothing was found.',
  });
}

/** A phrase that the shell has passed as one word is quoted again. */
function quotePhrase(word: string): string {
  return /\s/.test(word) && !word.includes('"') ? `"${word}"` : word;
}

/** The text of a hit with the words that were found in bold. */
function describeHit({ start, speaker, text, highlights }: SearchHit): Part[] {
  const parts: Part[] = [{ text: `  ${clockTime(start)}  `, style: 'dim' }, speaker ? `${speaker}: ` : ''];
  let at = 0;
  for (const [from = 0, to = 0] of highlights) {
    parts.push(text.slice(at, from), { text: text.slice(from, to), style: 'bold' });
    at = to;
  }
  return [...parts, text.slice(at)];
}
