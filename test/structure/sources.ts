import fs from 'node:fs';
import path from 'node:path';

/** The project's folder. */
export const ROOT = path.join(import.meta.dirname, '../..');
// Dependencies, files that a bench writes, and the bundled console.
const SKIPPED = /(^|\/)node_modules(\/|$)|^(bench\/work|console\/dist)\//;

/** A file of the project: its path from the root, and its text. */
export type Source = { file: string; text: string; isTest: boolean };

/** The project's files under these folders whose names end so, sorted by path. */
export function readSources(folders: string[], ending: string): Source[] {
  const names = folders.flatMap((folder) =>
    fs.readdirSync(path.join(ROOT, folder), { recursive: true }).map((name) => path.posix.join(folder, String(name))),
  );
  return names
    .filter((file) => file.endsWith(ending) && !SKIPPED.test(file))
    .sort()
    .map((file) => ({
      file,
      text: fs.readFileSync(path.join(ROOT, file), 'utf8'),
      isTest: file.endsWith('.test.ts') || file.startsWith('test/'),
    }));
}

export type Import = { from: string; isType: boolean };

/** What a file imports or re-exports: a path from the project's root, or a package's name. */
export function importsOf({ file, text }: Source): Import[] {
  const statements = text.matchAll(/^(?:import|export)\s+(type\s)?[^;'"`]*?from\s+'([^']+)'|\bimport\(?\s*'([^']+)'/gm);
  return [...statements].map(([, type, named, bare]) => {
    const name = (named ?? bare)!;
    const from = name.startsWith('.') ? path.posix.join(path.posix.dirname(file), name) : name;
    return { from: from.replace(/^#sdk\//, 'sdk/src/'), isType: type !== undefined };
  });
}

/** The text of a file without its comments. */
export function codeOf({ text }: Source): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '');
}

/** The strings and templates in a file; what is nested in a template counts as part of it. */
export function literalsOf(source: Source): string[] {
  const code = codeOf(source);
  return rangesOfLiterals(code).map(({ start, end }) => code.slice(start, end));
}

/** The text of a file without its comments, strings and templates. */
export function namesOf(source: Source): string {
  const code = codeOf(source);
  const ends = [0, ...rangesOfLiterals(code).flatMap(({ start, end }) => [start, end]), code.length];
  return ends.map((end, at) => (at % 2 === 1 ? code.slice(ends[at - 1], end) : '')).join('');
}

function rangesOfLiterals(code: string): { start: number; end: number }[] {
  const ranges: { start: number; end: number }[] = [];
  for (let at = 0; at < code.length; at++) {
    const end = '\'"`'.includes(code[at]!) ? endOfLiteral(code, at) : at;
    if (end > at) ranges.push({ start: at + 1, end });
    at = end;
  }
  return ranges;
}

function endOfLiteral(code: string, start: number): number {
  const quote = code[start];
  for (let at = start + 1; at < code.length; at++) {
    if (code[at] === '\\') at++;
    else if (code[at] === quote) return at;
    else if (quote === '`' && code.startsWith('${', at)) at = endOfHole(code, at + 2);
    else if (quote !== '`' && code[at] === '\n') return at;
  }
  return code.length;
}

function endOfHole(code: string, start: number): number {
  let depth = 1;
  for (let at = start; at < code.length; at++) {
    if (code[at] === '{') depth++;
    else if (code[at] === '}' && --depth === 0) return at;
    else if ('\'"`'.includes(code[at]!)) at = endOfLiteral(code, at);
  }
  return code.length;
}

/** Whether a string is an SQL statement that reads or writes a table. */
export function isSql(literal: string): boolean {
  return /^(?:\s*--.*\n)*\s*(select|insert into|update|delete from|with|truncate|merge into)\b[\s\S]*\b(from|set|into|values)\b/.test(
    literal,
  );
}

/** Whether a statement itself names the shard's column; its comments do not count. */
export function namesShard(statement: string): boolean {
  return /\bshard\b/.test(statement.replace(/--.*$/gm, '').replace(/\/\*[\s\S]*?\*\//g, ''));
}

/** The tests in a file: the first line of each, and its text. */
export function testsIn({ text }: Source): { title: string; body: string }[] {
  return [...text.matchAll(/^( *)test\(([\s\S]*?)^\1\}?\);$/gm)].map(([, , body]) => ({
    title: body!.split('\n', 1)[0]!,
    body: body!,
  }));
}
