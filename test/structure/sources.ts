import fs from 'node:fs';
import path from 'node:path';
import { type ParseResult, parseSync, Visitor } from 'oxc-parser';

/** The project's folder. */
export const ROOT = path.join(import.meta.dirname, '../..');
// Dependencies, files that a bench writes, and the bundled console.
const SKIPPED = /(^|\/)node_modules(\/|$)|^(bench\/work|console\/dist)\//;

/** A file of the project: its path from the root, and its text. */
export type Source = { file: string; text: string; isTest: boolean };

/** The project's files under these folders with one of these endings, sorted by path. */
export function readSources(folders: string[], ...endings: string[]): Source[] {
  const names = folders.flatMap((folder) =>
    fs.readdirSync(path.join(ROOT, folder), { recursive: true }).map((name) => path.posix.join(folder, String(name))),
  );
  return names
    .filter((file) => endings.some((ending) => file.endsWith(ending)) && !SKIPPED.test(file))
    .sort()
    .map((file) => ({
      file,
      text: fs.readFileSync(path.join(ROOT, file), 'utf8'),
      isTest: file.endsWith('.test.ts') || file.startsWith('test/'),
    }));
}

/** The modules of the service, without tests. */
export function readService(): Source[] {
  return readSources(['src'], '.ts').filter(({ isTest }) => !isTest);
}

/** The files with SQL statements. */
export function isStore({ file }: Source): boolean {
  return /(^|[/-])store\.ts$/.test(file);
}

const parsed = new Map<string, ParseResult>();

export function parse({ file, text }: Source): ParseResult {
  const known = parsed.get(file) ?? parseSync(file, text);
  parsed.set(file, known);
  return known;
}

export type Import = { from: string; isType: boolean };

/** What a file imports or re-exports: a path from the project's root, or a package's name. */
export function importsOf(source: Source): Import[] {
  const { staticImports, staticExports, dynamicImports } = parse(source).module;
  const named = [
    ...staticImports.map(({ moduleRequest, entries }) => ({ name: moduleRequest.value, entries })),
    ...staticExports.flatMap(({ entries }) => {
      const request = entries.find(({ moduleRequest }) => moduleRequest !== null)?.moduleRequest;
      return request ? [{ name: request.value, entries }] : [];
    }),
    ...dynamicImports.flatMap(({ moduleRequest: { start, end } }) => {
      const quoted = /^'(.*)'$/.exec(source.text.slice(start, end));
      return quoted ? [{ name: quoted[1]!, entries: [] }] : [];
    }),
  ];
  return named.map(({ name, entries }) => {
    const from = name.startsWith('.') ? path.posix.join(path.posix.dirname(source.file), name) : name;
    const isType = entries.length > 0 && entries.every((entry) => entry.isType);
    return { from: from.replace(/^#sdk\//, 'sdk/src/'), isType };
  });
}

/** The text of a file without its comments. */
export function codeOf(source: Source): string {
  const { comments } = parse(source);
  const starts = [0, ...comments.map(({ end }) => end)];
  return starts.map((start, at) => source.text.slice(start, comments[at]?.start)).join('');
}

/** The strings and templates in a file; what is nested in a template counts as part of it. */
export function literalsOf(source: Source): string[] {
  const found: string[] = [];
  let templates = 0;
  new Visitor({
    Literal({ value, start, end }) {
      if (typeof value === 'string' && templates === 0) found.push(source.text.slice(start + 1, end - 1));
    },
    TemplateLiteral({ start, end }) {
      if (templates++ === 0) found.push(source.text.slice(start + 1, end - 1));
    },
    'TemplateLiteral:exit'() {
      templates--;
    },
  }).visit(parse(source).program);
  return found;
}

/** The tables of the schema that have a column `shard`, from the migrations, without partitions. */
export function tablesWithShard(): string[] {
  const schema = readSources(['src/db/migrations'], '.sql').map(({ text }) => withoutComments(text));
  const created = schema.flatMap((text) => [...text.matchAll(/create table ([a-z_]+) \(([\s\S]*?)\n\)/g)]);
  return created.filter(([, , columns]) => /^ {2}shard smallint/m.test(columns!)).map(([, name]) => name!);
}

/** Whether a string is an SQL statement that reads or writes a table. */
export function isSql(literal: string): boolean {
  return /^(?:\s*--.*\n)*\s*(select|insert into|update|delete from|with|truncate|merge into)\b[\s\S]*\b(from|set|into|values)\b/.test(
    literal,
  );
}

/** A statement without its comments. */
export function withoutComments(statement: string): string {
  return statement.replace(/--.*$/gm, '').replace(/\/\*[\s\S]*?\*\//g, '');
}
