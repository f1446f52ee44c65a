import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { reasonOfMissingFile } from './missing-file.ts';

test('a file of the service that is gone is named, with what to do', () => {
  const [here, gone] = ['./missing-file.ts', './gone.js'].map((name) => fileURLToPath(new URL(name, import.meta.url)));

  assert.equal(reasonOfMissingFile(), null);
  assert.equal(reasonOfMissingFile([here!]), null);
  assert.equal(reasonOfMissingFile([here!, gone!]), `The service's file ${gone} was removed. Restart the service.`);
});
