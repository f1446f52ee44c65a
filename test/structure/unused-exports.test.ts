import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { readSources, type Source } from './sources.ts';

const files = readSources(['src', 'sdk', 'cli', 'test', 'bench', 'scripts', 'console'], '.ts');

/** Modules that are loaded by `import()`: their exports are used as members of the module. */
const LOADED = /^src\/processes\/roles\//;

test('every export is imported by another file, or is a type that its own file uses', () => {
  const imported = new Set(files.flatMap(importedNames));
  const sources = files.filter(({ file, isTest }) => /^(src|cli)\//.test(file) && !isTest && !LOADED.test(file));

  const unused = sources.flatMap((source) =>
    exportedNames(source)
      .map((name) => `${source.file} ${name}`)
      .filter((name) => !imported.has(name) && !imported.has(`${source.file} *`)),
  );

  assert.ok(imported.size > 500);
  assert.deepEqual(unused, []);
});

/** `file name` for each name that the file imports or re-exports; `file *` for an import of the whole module. */
function importedNames({ file, text }: Source): string[] {
  const statements = text.matchAll(
    /(?:\b(?:import|export)\s+(?:type\s+)?([^;'"`=]*?)\s+from\s+|\bimport\()'(\.[^']+)'/g,
  );
  return [...statements].flatMap(([, names, from]) => {
    const target = path.posix.join(path.posix.dirname(file), from!);
    if (!names?.startsWith('{')) return [`${target} *`];
    return listed(names).map((entry) => `${target} ${entry.split(' as ')[0]}`);
  });
}

/** Without types that the file itself uses: they may describe another export. */
function exportedNames({ text }: Source): string[] {
  const declared = text.matchAll(/^export (?:async )?(?:function\*?|const|let|class) (\w+)/gm);
  const types = text.matchAll(/^export type (\w+)/gm);
  const unusedTypes = [...types].filter(([, name]) => text.match(new RegExp(`\\b${name}\\b`, 'g'))!.length === 1);
  const reExports = text.matchAll(/^export (?:type )?(\{[^}]*\})/gm);
  return [
    ...Array.from([...declared, ...unusedTypes], ([, name]) => name!),
    ...Array.from(reExports, ([, names]) => listed(names!).map((entry) => entry.split(' as ').at(-1)!)).flat(),
  ];
}

/** The entries between the braces, without `type`. */
function listed(names: string): string[] {
  const entries = names.replace(/[{}]/g, '').split(',');
  return entries.map((entry) => entry.trim().replace(/^type /, '')).filter((entry) => entry !== '');
}
