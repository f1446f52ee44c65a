import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { makeDocuments } from '../scripts/docs.ts';

const ROOT = path.join(import.meta.dirname, '..');

for (const [name, text] of Object.entries(await makeDocuments())) {
  test(`${name} says what the code says; if not, run: node scripts/docs.ts`, () => {
    const file = path.join(ROOT, name);

    assert.equal(fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '', text);
  });
}
