import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import entryPoints from '../../bin/entry-points.json' with { type: 'json' };
import { codeOf, importsOf, literalsOf, ROOT, readSources, type Source } from './sources.ts';

// The parts of the bundle.
const sources = readSources(['src', 'sdk/src'], '.ts').filter(({ isTest }) => !isTest);
// Node finds packages from every folder of the project.
const PLACES = /createRequire\(import\.meta\.url\)|import\.meta\.resolve\(name\)/g;

test('each entry point is a module, under its own name, and something starts it', () => {
  const started = new Set(
    sources.flatMap(({ text }) => [...text.matchAll(/\bentryPoint\('([^']+)'\)/g)]).map(([, name]) => name),
  );

  for (const [name, file] of Object.entries(entryPoints)) {
    assert.ok(existsSync(path.join(ROOT, file)), file);
    assert.equal(path.basename(file), `${name}.ts`);
    assert.ok(started.has(name) || name === 'main', `nothing starts ${name}`);
  }
});

test('a module finds other modules and files through the installation, not by its own place, which differs in a bundle', () => {
  const ownPlace = sources.filter((source) => /\bimport\.meta\b/.test(codeOf(source).replaceAll(PLACES, '')));
  const byName = sources.flatMap((source) => modulesNamedIn(source).map((name) => `${source.file} ${name}`));

  assert.deepEqual(
    ownPlace.map(({ file }) => file),
    ['src/platform/installation.ts'],
  );
  assert.deepEqual(byName, []);
});

/** The modules that are named in strings other than imports. */
function modulesNamedIn(source: Source): string[] {
  const imported = new Set(importsOf(source).map(({ from }) => path.posix.basename(from)));
  return literalsOf(source).filter((literal) => /\w\.ts$/.test(literal) && !imported.has(path.posix.basename(literal)));
}
