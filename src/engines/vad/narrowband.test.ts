import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { openTestFolder } from '../../../test/fixtures/audio/test-audio.ts';
import { halveRate, openNarrowband } from './narrowband.ts';

/** The rate of the wide network, between bytes that stay. */
const MODEL = Buffer.from('0102803e0000000000000304', 'hex');

test('the copy of the model differs in the rate alone, and is gone when it was opened', async () => {
  await using folder = await openTestFolder();
  const model = path.join(folder.path, 'model.onnx');
  await writeFile(model, MODEL);
  let copy = '';

  const bytes = openNarrowband(model, (file) => {
    copy = file;
    return readFileSync(file);
  });

  assert.equal(bytes.toString('hex'), '010201000000000000000304');
  assert.deepEqual(readFileSync(model), MODEL);
  assert.ok(!existsSync(copy) && !existsSync(path.dirname(copy)));
});

test('the copy is gone when it could not be opened', async () => {
  await using folder = await openTestFolder();
  const model = path.join(folder.path, 'model.onnx');
  await writeFile(model, MODEL);
  let copy = '';
  const open = (file: string): never => {
    copy = file;
    throw new Error('not a model');
  };

  assert.throws(() => openNarrowband(model, open), /not a model/);
  assert.ok(!existsSync(copy));
});

for (const [holds, model] of [
  ['no rate', Buffer.alloc(12)],
  ['the rate twice', Buffer.concat([MODEL, MODEL])],
] as const) {
  test(`a file that holds ${holds} is not opened`, async () => {
    await using folder = await openTestFolder();
    const file = path.join(folder.path, 'model.onnx');
    await writeFile(file, model);

    assert.throws(() => openNarrowband(file, () => assert.fail('it was opened')), /not the voice detector/);
  });
}

test('half the rate has the mean of each two samples', () => {
  assert.deepEqual([...halveRate(Float32Array.of(1, 3, -2, 2, 7))], [2, 0]);
});
