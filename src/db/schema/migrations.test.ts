import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { FOLDER, hashOf, readMigrations } from './migrations.ts';

const listed = readFileSync(path.join(FOLDER, 'SHA256SUMS'), 'utf8').trim().split('\n');

test('each migration is listed in SHA256SUMS with its hash: a file that has landed never changes', () => {
  const lines = readMigrations().map((migration) => `${hashOf(migration)}  ${migration.name}`);

  const advice =
    'List a new file: cd src/db/migrations && sha256sum <file> >> SHA256SUMS. A listed file must not change.';
  assert.deepEqual(listed.toSorted(), lines.toSorted(), advice);
});

test('no two migrations have the same number', () => {
  const versions = readMigrations().map(({ version }) => version);

  assert.deepEqual([...new Set(versions)], versions);
});

// What a node of the previous minor release could not write or read any more.
const BREAKING = [
  /\bdrop (table|column)\b/i,
  /\brename\b/i,
  /\balter column \w+ (set data )?type\b/i,
  /\bset not null\b/i,
  /\badd column \w+ (?=[^,;]*\bnot null\b)(?![^,;]*\bdefault\b)[^,;]*/i,
];

test('migrations only add, so that nodes of the previous minor release keep working', () => {
  const later = readMigrations().slice(1);
  const breaking = later.filter(({ sql }) => BREAKING.some((pattern) => pattern.test(sql.replace(/--.*/g, ''))));

  assert.deepEqual(
    breaking.map(({ name }) => name),
    [],
  );
});

test('statements that older nodes could not work with are found', () => {
  const statements = [
    'alter table jobs drop column colour',
    'alter table jobs rename column a to b',
    'alter table jobs alter column a type text',
    'alter table jobs alter column a set not null',
    'alter table jobs add column a text not null',
  ];
  const harmless = `alter table jobs add column a text not null default '', add column b text`;

  assert.deepEqual(
    statements.filter((sql) => !BREAKING.some((pattern) => pattern.test(sql))),
    [],
  );
  assert.ok(!BREAKING.some((pattern) => pattern.test(harmless)));
});
