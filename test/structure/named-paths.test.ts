import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { ROOT } from './sources.ts';

const PROGRAMS = '{bin,bench,cli,console,examples,scripts,sdk/src,src,test}/**/*.{js,ts,tsx}';
const PAGES = '{*.md,{bench,cli,console,docs,examples,findings,sdk,src,test}/**/*.md}';
/** A page that keeps old names, and a test with programs of its own. Migrations never change: they are left out too. */
const SKIPPED = ['CHANGELOG.md', 'test/service/bundle.test.ts'];
const COMMENT = /\/\*\*?[\s\S]*?\*\/|(?<=^|\s)\/\/.*/gm;
/** In a page, what is shown as code. */
const CODE = /`[^`\n]+`/g;
/** A file in a folder: a name alone may be that of any file. */
const PATH = /(?<![\w/.:$@*<-])(?:\.\.?\/)*(?:[\w-]+\/)+[\w.-]*\w\.(?:ts|tsx|js|md|sql|py)\b(?![/*\w])/g;

type Named = { file: string; named: string };

function pathsIn(file: string, parts: RegExp): Named[] {
  const text = fs.readFileSync(path.join(ROOT, file), 'utf8');
  const found = [...text.matchAll(parts)].flatMap(([part]) => [...part.matchAll(PATH)].map(([named]) => named));
  return [...new Set(found)].map((named) => ({ file, named }));
}

/** A path is named from the root, from `src/`, or from the folder of the file or one above it. */
function exists({ file, named }: Named): boolean {
  const folders = [''];
  for (let at = path.dirname(file); at !== '.'; at = path.dirname(at)) folders.push(at);
  return [...folders, 'src'].some((folder) => fs.existsSync(path.join(ROOT, folder, named)));
}

function filesOf(pattern: string): string[] {
  return fs
    .globSync(pattern, { cwd: ROOT, exclude: ['**/node_modules/**'] })
    .filter((file) => !SKIPPED.includes(file))
    .sort();
}

test('each path that a comment or a page names is there', () => {
  const named = [
    ...filesOf(PROGRAMS).flatMap((file) => pathsIn(file, COMMENT)),
    ...filesOf(PAGES).flatMap((file) => pathsIn(file, CODE)),
  ];

  const stale = named.filter((path) => !exists(path)).map(({ file, named: missing }) => `${file}: ${missing}`);
  assert.deepEqual(stale, []);
  assert.ok(named.length > 150, `${named.length} paths were found`);
});
