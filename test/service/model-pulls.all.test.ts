import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { ApiError, VerbatimAdmin } from '../../sdk/src/client/index.ts';
import { CATALOGUE } from '../../src/models/catalogue.ts';
import type { HubSource } from '../../src/models/model.ts';
import { TestHub } from '../fixtures/servers/hub.ts';
import { openService, temporaryFolder } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';

const NAME = 'parakeet-110m';
const ANSWERED_BYTES = 40_000;
const model = CATALOGUE.find(({ name }) => name === NAME)!;
const source = model.sources.find(({ kind }) => kind === 'hub') as HubSource;

/** A hub that lists the files of a real model, and stops in the middle of the first one. */
class StalledHub extends TestHub {
  override readonly repository = source.repository;
  override readonly revision = source.revision;
}

test('the operator pulls a model, follows it and cancels it', async () => {
  const files = model.files.map(({ path }) => ({ path, bytes: Buffer.alloc(2 * ANSWERED_BYTES), isLarge: false }));
  await using hub = new StalledHub(files);
  for (const file of model.files) hub.listedSizes.set(file.path, file.sizeBytes);
  const stall = { kind: 'stall', afterBytes: ANSWERED_BYTES } as const;
  hub.misbehave(model.files[0]!.path, stall);
  await hub.listen();
  const dataDir = temporaryFolder();
  await using service = await openService({ HF_ENDPOINT: hub.url }, dataDir);
  const admin = new VerbatimAdmin({ baseUrl: service.baseUrl, adminToken: service.adminToken, maxRetries: 0 });
  const isRefused = (status: number, words: RegExp) => (error: ApiError) =>
    error instanceof ApiError && error.status === status && words.test(error.message);
  const partial = path.join(dataDir, 'models/.partial', NAME);

  const started = await admin.pullModel(NAME);
  const shown = await until('progress', async () => {
    const { pull } = await admin.models();
    return pull !== null && pull.done_bytes > 0 ? pull : null;
  });

  assert.deepEqual([started.status, started.done_bytes], ['running', 0]);
  assert.deepEqual([shown.model, shown.status, shown.done_bytes], [NAME, 'running', ANSWERED_BYTES]);
  await assert.rejects(admin.pullModel('whisper-tiny'), isRefused(409, /parakeet-110m is being pulled/));
  await assert.rejects(admin.pullModel('no-such-model'), isRefused(404, /no such model/));
  await assert.rejects(admin.cancelPull('whisper-tiny'), isRefused(404, /not pulling/));
  assert.ok(existsSync(partial));

  assert.equal((await admin.cancelPull(NAME)).status, 'canceled');

  assert.equal(existsSync(partial), false);
  assert.equal((await admin.models()).pull?.status, 'canceled');
  const changes = (await admin.audit().toArray({ limit: 10 })).map(({ action, target_id }) => [action, target_id]);
  assert.deepEqual(changes, [
    ['model.pull_canceled', NAME],
    ['model.pulled', NAME],
  ]);
});
