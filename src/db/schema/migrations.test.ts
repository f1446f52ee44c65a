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
