import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { packageToInstall, withPackageNames } from '../../scripts/release/package-names.ts';

const ROOT = path.join(import.meta.dirname, '../..');

test('a page names files until the packages are published, then their names, and back', () => {
  const page = fs.readFileSync(path.join(ROOT, 'docs/install.md'), 'utf8');

  const published = withPackageNames(page, true);

  assert.match(published, /npm install --global @verbatim\/server/);
  assert.doesNotMatch(published, /\.tgz`|No registry/);
  assert.equal(withPackageNames(published, false), page);
});

test('no page or message names a package that a registry does not have', () => {
  if (packageToInstall('sdk').startsWith('@')) return;
  const places = ['*.md', '{docs,sdk,examples}/**/*.md', '{src,cli,bin,console,scripts,sdk}/**/*.{ts,tsx,js}'];
  const files = fs
    .globSync(places, { cwd: ROOT, exclude: ['**/node_modules/**', '**/dist/**', 'bin/node24/**'] })
    .filter((file) => file !== 'CHANGELOG.md' && !file.endsWith('/package-names.ts') && !file.endsWith('.test.ts'));
  const commands =
    /\b(?:npx|npm (?:install|i|exec)|pnpm add|yarn add|bun add)\b[^\n`']*@verbatim\/|\bpip install verbatim/;

  assert.ok(files.length > 500);
  assert.deepEqual(
    files.filter((file) => commands.test(fs.readFileSync(path.join(ROOT, file), 'utf8'))),
    [],
  );
});
