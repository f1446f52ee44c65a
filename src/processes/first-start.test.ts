import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { recordNames } from '../../test/fixtures/processes/recorded-names.ts';
import { dataPaths, readConfig } from '../config/settings.ts';
import { keptNodeId, prepareDataDir } from './data-directory.ts';

test('the folders and files of a first start survive a power failure', (t) => {
  using place = openPlace();
  const { unsynced, steps } = recordNames(t);

  prepareDataDir(place.config);
  keptNodeId(place.config);

  const made = steps.map(({ name }) => path.basename(name));
  for (const name of ['data', 'audio', 'models', 'admin-token', 'secrets-key', 'node-id'])
    assert.ok(made.includes(name), name);
  assert.deepEqual([...unsynced], []);
});

test('drafts of secrets that a killed process left are removed, and the secrets stay', () => {
  using place = openPlace();
  const before = prepareDataDir(place.config);
  const { secretsKey, nodeId } = dataPaths(place.config.dataDir);
  for (const draft of [`${secretsKey}.7`, `${secretsKey}.12345`, `${nodeId}.7`]) fs.writeFileSync(draft, 'a draft\n');
  fs.writeFileSync(`${secretsKey}.backup`, 'not ours\n');

  const after = prepareDataDir(place.config);
  keptNodeId(place.config);

  assert.deepEqual(after, before);
  const left = fs.readdirSync(place.config.dataDir).sort();
  assert.deepEqual(left, ['admin-token', 'audio', 'models', 'node-id', 'secrets-key', 'secrets-key.backup']);
});

test('a process that loses the race for a secret takes the one of the first, also without its own draft', (t) => {
  using place = openPlace();
  const { adminToken } = dataPaths(place.config.dataDir);
  const { linkSync } = fs;
  t.mock.method(fs, 'linkSync', (draft: string, file: string) => {
    if (file === adminToken) {
      fs.writeFileSync(file, 'the-token-of-the-first-of-two-processes\n');
      fs.rmSync(draft);
    }
    linkSync(draft, file);
  });

  assert.equal(prepareDataDir(place.config).adminToken, 'the-token-of-the-first-of-two-processes');
});

test('a kept token of the operator that is too short stops the start, and the message does not repeat it', () => {
  using place = openPlace();
  prepareDataDir(place.config);
  fs.writeFileSync(dataPaths(place.config.dataDir).adminToken, 'hunter2\n');

  assert.throws(
    () => prepareDataDir(place.config),
    ({ message }: Error) => /admin-token must be 32 to 256/.test(message) && !message.includes('hunter2'),
  );
});

function openPlace() {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'verbatim-test-'));
  const config = readConfig({ DATA_DIR: path.join(home, 'data') });
  return { config, [Symbol.dispose]: () => fs.rmSync(home, { recursive: true }) };
}
