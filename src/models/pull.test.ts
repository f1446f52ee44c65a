import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { MODEL_BYTES, openModelFixture } from '../../test/fixtures/model.ts';
import { randomFrom } from '../../test/fixtures/random.ts';
import type { Misdeed } from '../../test/fixtures/servers/hub.ts';
import { pulledModels, readManifest, removeModel } from './folder.ts';
import type { ModelProblem } from './model.ts';
import { ModelError } from './model.ts';

test('a model is pulled into a folder of its name, with a manifest of what was kept', async () => {
  await using fixture = await openModelFixture();

  const pulled = await fixture.pull();

  assert.deepEqual(pulled, { kind: 'pulled', folder: path.join(fixture.modelsDir, 'tone') });
  assert.deepEqual(await readdir(pulled.folder), ['manifest.json', 'model.onnx', 'tokens.txt']);
  assert.deepEqual(await readFile(path.join(pulled.folder, 'model.onnx')), fixture.large.bytes);
  assert.deepEqual(await readFile(path.join(pulled.folder, 'tokens.txt')), fixture.small.bytes);
  const manifest = await readManifest(pulled.folder);
  assert.deepEqual(manifest?.files, fixture.model.files);
  assert.equal(manifest?.licence, 'MIT');
  assert.deepEqual(await pulledModels(fixture.modelsDir), ['tone']);
});

test('progress counts the bytes of the whole model up to its end', async () => {
  await using fixture = await openModelFixture();
  const seen: number[] = [];

  await fixture.pull({ onProgress: ({ doneBytes, totalBytes }) => seen.push(doneBytes / totalBytes) });

  assert.equal(seen[0], 0);
  assert.equal(seen.at(-1), 1);
  assert.deepEqual(
    seen,
    seen.toSorted((a, b) => a - b),
  );
});

test('a model that is there is not asked for again', async () => {
  await using fixture = await openModelFixture();
  await fixture.pull();
  const before = fixture.hub.listings;

  const again = await fixture.pull();

  assert.equal(again.kind, 'already');
  assert.equal(fixture.hub.listings, before);
});

test('a cut connection is taken up at the very byte where it ended', async () => {
  await using fixture = await openModelFixture();
  fixture.hub.misbehave('model.onnx', { kind: 'cut', afterBytes: 100_000 });

  const { folder } = await fixture.pull();

  assert.deepEqual(await readFile(path.join(folder, 'model.onnx')), fixture.large.bytes);
  const [first, second, ...more] = fixture.hub.downloads.filter((one) => one.path === 'model.onnx');
  assert.equal(first!.range, null);
  assert.match(second!.range!, /^bytes=[1-9]\d*-299999$/);
  assert.equal(more.length, 0);
});

test('a file arrives whole, wherever the line breaks and however often', async () => {
  const random = randomFrom(20_261);
  for (let round = 0; round < 8; round += 1) {
    await using fixture = await openModelFixture();
    const misdeeds = Array.from({ length: 1 + random.integer(8) }, (): Misdeed => {
      return random.integer(4) === 0
        ? { kind: 'status', status: random.pick([429, 500, 503]) }
        : { kind: 'cut', afterBytes: 1 + random.integer(MODEL_BYTES / 3) };
    });
    fixture.hub.misbehave('model.onnx', ...misdeeds);

    const { folder } = await fixture.pull();

    assert.deepEqual(await readFile(path.join(folder, 'model.onnx')), fixture.large.bytes);
  }
});

for (const afterBytes of [0, 100_000]) {
  test(`a connection that falls silent after ${afterBytes} bytes is given up, and the file goes on`, async () => {
    await using fixture = await openModelFixture();
    fixture.hub.misbehave('model.onnx', { kind: 'stall', afterBytes });

    const { folder } = await fixture.pull({ stallMs: 100 });

    assert.deepEqual(await readFile(path.join(folder, 'model.onnx')), fixture.large.bytes);
  });
}

test('a server that cannot go on in the middle is asked for the whole file', async () => {
  await using fixture = await openModelFixture();
  fixture.hub.ignoresRanges = true;
  fixture.hub.misbehave('model.onnx', { kind: 'cut', afterBytes: 100_000 });

  const { folder } = await fixture.pull();

  assert.deepEqual(await readFile(path.join(folder, 'model.onnx')), fixture.large.bytes);
});

test('five tries in a row that bring nothing end the pull, and what came is kept', async () => {
  await using fixture = await openModelFixture();
  const refusals = Array.from({ length: 5 }, (): Misdeed => ({ kind: 'status', status: 503 }));
  fixture.hub.misbehave('model.onnx', { kind: 'cut', afterBytes: 100_000 }, ...refusals);

  await assertRefuses(fixture.pull(), 'unreachable', /Pull again later/);

  assert.ok((await stat(fixture.part('model.onnx'))).size > 0);
  assert.deepEqual(await pulledModels(fixture.modelsDir), []);
});

test('an aborted pull ends with the reason, and the next one goes on where it was', async () => {
  await using fixture = await openModelFixture();
  fixture.hub.misbehave('model.onnx', { kind: 'stall', afterBytes: 100_000 });
  const abort = new AbortController();
  const stalled = fixture.hub.stalled();

  const pulling = fixture.pull({ signal: abort.signal });
  await stalled;
  abort.abort(new Error('enough'));

  await assert.rejects(pulling, /enough/);
  assert.deepEqual(await pulledModels(fixture.modelsDir), []);
  const keptBytes = (await stat(fixture.part('model.onnx'))).size;
  await fixture.pull();
  assert.equal(
    fixture.hub.downloads.findLast((one) => one.path === 'model.onnx')?.range ?? 'bytes=0-',
    rangeFrom(keptBytes),
  );
});

test('a process killed in the middle of a pull leaves no model, and the next pull ends it', async () => {
  await using fixture = await openModelFixture();
  fixture.hub.misbehave('model.onnx', { kind: 'stall', afterBytes: 100_000 });
  const stalled = fixture.hub.stalled();
  const child = spawn(process.execPath, ['--input-type=module', '-e', CHILD], {
    env: {
      ...process.env,
      PULL: JSON.stringify({ modelsDir: fixture.modelsDir, hubUrl: fixture.hub.url, catalogue: [fixture.model] }),
    },
    stdio: 'ignore',
  });
  await stalled;
  child.kill('SIGKILL');
  await once(child, 'exit');

  assert.deepEqual(await pulledModels(fixture.modelsDir), []);
  const { kind } = await fixture.pull();

  assert.equal(kind, 'pulled');
  assert.deepEqual(await readFile(path.join(fixture.modelsDir, 'tone', 'model.onnx')), fixture.large.bytes);
});

test('bytes of another size than the catalogue names are refused before any are fetched', async () => {
  await using fixture = await openModelFixture();
  fixture.hub.listedSizes.set('model.onnx', MODEL_BYTES - 1);

  await assertRefuses(fixture.pull(), 'wrong_bytes', /nothing was fetched/);

  assert.deepEqual(fixture.hub.downloads, []);
});

test('a file that the hub says is another one is refused before any bytes are fetched', async () => {
  await using fixture = await openModelFixture();
  const pinned = { ...fixture.model.files[0]!, sha256: 'a'.repeat(64) };

  await assertRefuses(
    fixture.pull({ catalogue: [{ ...fixture.model, files: [pinned] }] }),
    'wrong_bytes',
    /nothing was fetched/,
  );

  assert.deepEqual(fixture.hub.downloads, []);
});

for (const name of ['model.onnx', 'tokens.txt']) {
  test(`wrong bytes of the right size are thrown away: ${name}`, async () => {
    await using fixture = await openModelFixture();
    const file = [fixture.large, fixture.small].find((one) => one.path === name)!;
    fixture.hub.served.set(name, Buffer.alloc(file.bytes.length, 'x'));

    await assertRefuses(fixture.pull(), 'wrong_bytes', /thrown away/);

    assert.deepEqual(await pulledModels(fixture.modelsDir), []);
    await assert.rejects(stat(fixture.part(name)), { code: 'ENOENT' });
  });

  test(`where the catalogue knows no SHA-256, the hub's own sum decides: ${name}`, async () => {
    await using fixture = await openModelFixture();
    const file = [fixture.large, fixture.small].find((one) => one.path === name)!;
    const unpinned = { ...fixture.model, files: fixture.model.files.map((one) => ({ ...one, sha256: null })) };
    fixture.hub.served.set(name, Buffer.alloc(file.bytes.length, 'x'));

    await assertRefuses(fixture.pull({ catalogue: [unpinned] }), 'wrong_bytes', /thrown away/);
    fixture.hub.served.clear();
    await fixture.pull({ catalogue: [unpinned] });

    assert.deepEqual((await readManifest(path.join(fixture.modelsDir, 'tone')))?.files, fixture.model.files);
  });
}

test('a part that was damaged on the disk is fetched anew', async () => {
  await using fixture = await openModelFixture();
  await mkdir(path.dirname(fixture.part('model.onnx')), { recursive: true });
  await writeFile(fixture.part('model.onnx'), Buffer.alloc(100_000, 'x'));

  const { folder } = await fixture.pull();

  assert.deepEqual(await readFile(path.join(folder, 'model.onnx')), fixture.large.bytes);
  const ranges = fixture.hub.downloads.filter((one) => one.path === 'model.onnx').map((one) => one.range);
  assert.deepEqual(ranges, ['bytes=100000-299999', null]);
});

test('more bytes than a file has are not written', async () => {
  await using fixture = await openModelFixture();
  fixture.hub.misbehave('model.onnx', { kind: 'surplus', bytes: 1 });

  await assertRefuses(fixture.pull(), 'wrong_bytes', /more bytes/);

  assert.ok((await stat(fixture.part('model.onnx'))).size <= MODEL_BYTES);
});

test('files of an earlier revision do not come into the folder', async () => {
  await using fixture = await openModelFixture();
  await mkdir(path.dirname(fixture.part('old.onnx')), { recursive: true });
  await writeFile(fixture.part('old.onnx'), 'old');

  const { folder } = await fixture.pull();

  assert.deepEqual(await readdir(folder), ['manifest.json', 'model.onnx', 'tokens.txt']);
});

test('a second pull at the same time is told to wait', async () => {
  await using fixture = await openModelFixture();
  fixture.hub.misbehave('model.onnx', { kind: 'stall', afterBytes: 100_000 });
  const abort = new AbortController();
  const stalled = fixture.hub.stalled();
  const first = fixture.pull({ signal: abort.signal });
  await stalled;

  await assertRefuses(fixture.pull(), 'busy', /Another process is pulling/);

  abort.abort();
  await assert.rejects(first, { name: 'AbortError' });
});

test('a model that is there is told to be so even while another one is pulled', async () => {
  await using fixture = await openModelFixture();
  await fixture.pull();
  fixture.hub.misbehave('model.onnx', { kind: 'stall', afterBytes: 100_000 });
  const abort = new AbortController();
  const stalled = fixture.hub.stalled();
  const catalogue = [fixture.model, { ...fixture.model, name: 'other' }];
  const other = fixture.pull({ catalogue, signal: abort.signal }, 'other');
  await stalled;

  assert.equal((await fixture.pull({ catalogue })).kind, 'already');

  abort.abort();
  await assert.rejects(other, { name: 'AbortError' });
});

test('what cannot be had is said in a sentence', async () => {
  await using fixture = await openModelFixture();
  const elsewhere = { ...fixture.model, repository: 'project/other' };
  const other = { ...fixture.model.files[0]!, path: 'other.onnx' };

  await assertRefuses(fixture.pull({}, 'tune'), 'unknown_model', /There are: tone/);
  await assertRefuses(fixture.pull({ catalogue: [elsewhere] }), 'not_on_hub', /answered 404 for project\/other/);
  await assertRefuses(
    fixture.pull({ catalogue: [{ ...fixture.model, files: [other] }] }),
    'not_on_hub',
    /no other\.onnx/,
  );
  await assertRefuses(fixture.pull({ hubUrl: 'http://127.0.0.1:1' }), 'unreachable', /cannot be reached/);
});

test('a file that the hub will not give is not asked for again and again', async () => {
  await using fixture = await openModelFixture();
  fixture.hub.misbehave('model.onnx', { kind: 'status', status: 403 });

  await assertRefuses(fixture.pull(), 'not_on_hub', /403 for model.onnx/);

  assert.equal(fixture.hub.downloads.length, 1);
});

test('a removed model is gone, and nothing else can be removed', async () => {
  await using fixture = await openModelFixture();
  await fixture.pull();

  await removeModel('tone', fixture.modelsDir);

  assert.deepEqual(await pulledModels(fixture.modelsDir), []);
  for (const name of ['tone', '..', '.partial', 'a/b', ''])
    await assertRefuses(removeModel(name, fixture.modelsDir), 'not_pulled', /no model/);
  assert.equal((await fixture.pull()).kind, 'pulled');
});

const CHILD = `
import { pullModel } from ${JSON.stringify(new URL('./pull.ts', import.meta.url).href)};
await pullModel('tone', JSON.parse(process.env.PULL));
`;

function rangeFrom(offset: number): string {
  return offset === 0 ? 'bytes=0-' : `bytes=${offset}-${MODEL_BYTES - 1}`;
}

async function assertRefuses(attempt: Promise<unknown>, problem: ModelProblem, message: RegExp): Promise<void> {
  await assert.rejects(attempt, (error: unknown) => {
    assert.ok(error instanceof ModelError, String(error));
    assert.equal(error.problem, problem);
    assert.match(error.message, message);
    return true;
  });
}
