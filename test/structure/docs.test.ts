import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { makeDocuments } from '../../scripts/docs.ts';
import { ROOT } from './sources.ts';

for (const [name, text] of Object.entries(await makeDocuments())) {
  test(`${name} says what the code says; if not, run: node scripts/docs.ts`, () => {
    const file = path.join(ROOT, name);

    assert.equal(fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '', text);
  });
}

const PAGES = fs
  .globSync(['*.md', 'docs/**/*.md', 'bench/*.md', 'sdk/*.md', 'sdk/python/*.md', 'examples/**/*.md'], { cwd: ROOT })
  .filter((file) => file !== 'CHANGELOG.md');

test('every file that a page or bin/main.js names exists', () => {
  const missing = [...PAGES, 'bin/main.js'].flatMap((file) => {
    const text = fs.readFileSync(path.join(ROOT, file), 'utf8');
    const named =
      text.match(/\b(?:src|test|bench|scripts|sdk|cli|docs|ops|console|examples)\/[\w/.-]*\w\.\w+\b/g) ?? [];
    return named.filter((name) => !fs.existsSync(path.join(ROOT, name))).map((name) => `${file}: ${name}`);
  });

  assert.deepEqual(missing, []);
});

test('every link between pages leads to a file', () => {
  const dead = PAGES.flatMap((file) => {
    const text = fs.readFileSync(path.join(ROOT, file), 'utf8');
    const links = [...text.matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)/g)].map((match) => match[1]!);
    return links
      .filter((link) => !fs.existsSync(path.join(ROOT, path.dirname(file), link)))
      .map((link) => `${file}: ${link}`);
  });

  assert.deepEqual(dead, []);
});
