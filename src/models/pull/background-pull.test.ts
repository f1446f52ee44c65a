import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { MODEL_BYTES, openModelFixture, originsOf } from '../../../test/fixtures/model.ts';
import { until } from '../../../test/fixtures/until.ts';
import { claimDirectory } from '../../db/embedded/folder-lock.ts';
import { partialDir, pulledModels } from '../folder.ts';
import { ModelError } from '../model.ts';
import { BackgroundPull } from './background-pull.ts';

async function openPulls() {
  const fixture = await openModelFixture();
  const { modelsDir, hub, model } = fixture;
  const pulls = new BackgroundPull({ modelsDir, origins: originsOf(hub.url), catalogue: [model] });
  const ended = () => until('the end of the pull', () => (pulls.state?.endedAt ? pulls.state : null));
  return { ...fixture, pulls, ended, [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose]() };
}

test('a model is pulled in the background, and the state tells of all its bytes', async () => {
  await using fixture = await openPulls();

  const started = fixture.pulls.start('tone');
  const ended = await fixture.ended();

  assert.deepEqual([started?.status, started?.doneBytes, started?.endedAt], ['running', 0, null]);
  assert.deepEqual([ended.status, ended.message], ['completed', null]);
  assert.equal(ended.doneBytes, ended.totalBytes);
  assert.deepEqual(await pulledModels(fixture.modelsDir), ['tone']);
});

test('one pull runs at a time, and another model than those of the catalogue is refused', async () => {
  await using fixture = await openPulls();
  fixture.hub.misbehave('model.onnx', { kind: 'stall', afterBytes: 1_000 });
  fixture.pulls.start('tone');

  assert.equal(fixture.pulls.start('tone'), null);
  assert.throws(() => fixture.pulls.start('../../etc'), ModelError);

  await fixture.pulls.cancel('tone');
});

test('a canceled pull leaves no files, and the next one begins anew', async () => {
  await using fixture = await openPulls();
  const half = MODEL_BYTES / 2;
  fixture.hub.misbehave('model.onnx', { kind: 'stall', afterBytes: half });
  fixture.pulls.start('tone');
  await until('the first bytes', () => fixture.pulls.state!.doneBytes > 0);

  const canceled = await fixture.pulls.cancel('tone');

  assert.equal(canceled?.status, 'canceled');
  assert.equal(existsSync(fixture.part('model.onnx')), false);
  assert.equal(await fixture.pulls.cancel('tone'), null);
  fixture.pulls.start('tone');
  assert.equal((await fixture.ended()).status, 'completed');
});

test('a canceled pull does not remove what another process pulls', async () => {
  await using fixture = await openPulls();
  const part = fixture.part('model.onnx');
  mkdirSync(path.dirname(part), { recursive: true });
  writeFileSync(part, 'of another process');
  const other = claimDirectory(partialDir(fixture.modelsDir));

  fixture.pulls.start('tone');
  await fixture.pulls.cancel('tone');
  other.release();

  assert.ok(existsSync(part));
});

test('a pull that fails says why, and keeps what it has for the next one', async () => {
  await using fixture = await openPulls();
  fixture.hub.misbehave('model.onnx', { kind: 'cut', afterBytes: 1_000 }, { kind: 'status', status: 404 });

  fixture.pulls.start('tone');
  const failed = await fixture.ended();

  assert.equal(failed.status, 'failed');
  assert.match(failed.message!, /The hub answered 404 for model.onnx/);
  assert.ok(existsSync(fixture.part('model.onnx')));
});
