import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { MODEL_BYTES, openModelFixture, originsOf } from '../../../test/fixtures/model.ts';
import { randomFrom } from '../../../test/fixtures/random.ts';
import type { Misdeed } from '../../../test/fixtures/servers/hub.ts';
import { pulledModels, removeModel } from '../folder.ts';
import { ModelError, type ModelProblem } from '../model.ts';

const manifestIn = (folder: string) => JSON.parse(readFileSync(path.join(folder, 'manifest.json'), 'utf8'));

test('a model is pulled into a folder of its name, with a manifest of its files', async () => {
  await using fixture = await openModelFixture();

  const pulled = await fixture.pull();

  assert.deepEqual(pulled, { kind: 'pulled', folder: path.join(fixture.modelsDir, 'tone') });
  assert.deepEqual(await readdir(pulled.folder), ['manifest.json', 'model.onnx', 'tokens.txt']);
  assert.deepEqual(await readFile(path.join(pulled.folder, 'model.onnx')), fixture.large.bytes);
  assert.deepEqual(await readFile(path.join(pulled.folder, 'tokens.txt')), fixture.small.bytes);
  const manifest = manifestIn(pulled.folder);
  assert.deepEqual(manifest.files, fixture.model.files);
  assert.equal(manifest.licence, 'MIT');
  assert.deepEqual(await pulledModels(fixture.modelsDir), ['tone']);
});

test('a file of another repository comes from there, and a wrong digest in its listing is refused', async () => {
  await using fixture = await openModelFixture();
  const { revision } = fixture.hub;
  const [large, small] = fixture.model.files;
  fixture.large.repository = 'project/voices';
  const source = { repository: 'project/voices', revision };
  const catalogue = [{ ...fixture.model, files: [{ ...large!, source }, small!] }];

  await assertRefuses(fixture.pull(), 'not_on_hub', /no model.onnx in project\/tone/);
  const wrong = [{ ...fixture.model, files: [{ ...large!, source, sha256: '0'.repeat(64) }, small!] }];
  await assertRefuses(fixture.pull({ catalogue: wrong }), 'wrong_bytes', /project\/voices/);
  const { folder } = await fixture.pull({ catalogue });

  assert.deepEqual(await readFile(path.join(folder, 'model.onnx')), fixture.large.bytes);
  assert.deepEqual(await readFile(path.join(folder, 'tokens.txt')), fixture.small.bytes);
});

test('progress counts the bytes of all files', async () => {
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

test('a pulled model is not requested again', async () => {
  await using fixture = await openModelFixture();
  await fixture.pull();
  const before = fixture.hub.listings;

  const again = await fixture.pull();

  assert.equal(again.kind, 'already');
  assert.equal(fixture.hub.listings, before);
});

test('a download resumes at the byte where the connection broke', async () => {
  await using fixture = await openModelFixture();
  fixture.hub.misbehave('model.onnx', { kind: 'cut', afterBytes: 100_000 });

  const { folder } = await fixture.pull();

  assert.deepEqual(await readFile(path.join(folder, 'model.onnx')), fixture.large.bytes);
  const [first, second, ...more] = fixture.hub.downloads.filter((one) => one.path === 'model.onnx');
  assert.equal(first!.range, null);
  assert.match(second!.range!, /^bytes=[1-9]\d*-299999$/);
  assert.equal(more.length, 0);
});

test('a file is complete however often and wherever the connection breaks', async () => {
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
  test(`a connection that stalls after ${afterBytes} bytes is closed, and the download resumes`, async () => {
    await using fixture = await openModelFixture();
    fixture.hub.misbehave('model.onnx', { kind: 'stall', afterBytes });

    const { folder } = await fixture.pull({ stallMs: 100 });

    assert.deepEqual(await readFile(path.join(folder, 'model.onnx')), fixture.large.bytes);
  });
}

test('a server that drips is given up, and the bytes so far are kept', async () => {
  await using fixture = await openModelFixture();
  const drips = Array.from({ length: 5 }, (): Misdeed => ({ kind: 'drip', everyMs: 5 }));
  fixture.hub.misbehave('model.onnx', ...drips);

  await assertRefuses(fixture.pull({ stallMs: 100 }), 'unreachable', /sent less than 4 KB a second/);

  assert.equal(fixture.hub.downloads.filter(({ path: file }) => file === 'model.onnx').length, 5);
  const kept = await readFile(fixture.part('model.onnx'));
  assert.deepEqual(kept, fixture.large.bytes.subarray(0, kept.length));
});

test('a server without range support is asked for the whole file', async () => {
  await using fixture = await openModelFixture();
  fixture.hub.ignoresRanges = true;
  fixture.hub.misbehave('model.onnx', { kind: 'cut', afterBytes: 100_000 });

  const { folder } = await fixture.pull();

  assert.deepEqual(await readFile(path.join(folder, 'model.onnx')), fixture.large.bytes);
});

test('five consecutive attempts without data end the pull, and the bytes so far are kept', async () => {
  await using fixture = await openModelFixture();
  const refusals = Array.from({ length: 5 }, (): Misdeed => ({ kind: 'status', status: 503 }));
  fixture.hub.misbehave('model.onnx', { kind: 'cut', afterBytes: 100_000 }, ...refusals);

  await assertRefuses(fixture.pull(), 'unreachable', /Pull again later/);

  assert.ok((await stat(fixture.part('model.onnx'))).size > 0);
  assert.deepEqual(await pulledModels(fixture.modelsDir), []);
});

test('an aborted pull rejects with the reason, and the next pull resumes', async () => {
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

test('a process killed during a pull leaves no model, and the next pull completes it', async () => {
  await using fixture = await openModelFixture();
  fixture.hub.misbehave('model.onnx', { kind: 'stall', afterBytes: 100_000 });
  const stalled = fixture.hub.stalled();
  const child = spawn(process.execPath, ['--input-type=module', '-e', CHILD], {
    env: {
      ...process.env,
      PULL: JSON.stringify({
        modelsDir: fixture.modelsDir,
        origins: originsOf(fixture.hub.url),
        catalogue: [fixture.model],
      }),
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

test('a file of another size than in the catalogue is refused before the download', async () => {
  await using fixture = await openModelFixture();
  fixture.hub.listedSizes.set('model.onnx', MODEL_BYTES - 1);

  await assertRefuses(fixture.pull(), 'wrong_bytes', /nothing was fetched/);

  assert.deepEqual(fixture.hub.downloads, []);
});

test('a file with another digest on the hub is refused before the download', async () => {
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
  test(`wrong bytes of the right size are discarded: ${name}`, async () => {
    await using fixture = await openModelFixture();
    const file = [fixture.large, fixture.small].find((one) => one.path === name)!;
    fixture.hub.served.set(name, Buffer.alloc(file.bytes.length, 'x'));

    await assertRefuses(fixture.pull(), 'wrong_bytes', /wrong checksum/);

    assert.deepEqual(await pulledModels(fixture.modelsDir), []);
    await assert.rejects(stat(fixture.part(name)), { code: 'ENOENT' });
  });

  test(`without a SHA-256 in the catalogue, the digest of the hub is used: ${name}`, async () => {
    await using fixture = await openModelFixture();
    const file = [fixture.large, fixture.small].find((one) => one.path === name)!;
    const unpinned = { ...fixture.model, files: fixture.model.files.map((one) => ({ ...one, sha256: null })) };
    fixture.hub.served.set(name, Buffer.alloc(file.bytes.length, 'x'));

    await assertRefuses(fixture.pull({ catalogue: [unpinned] }), 'wrong_bytes', /wrong checksum/);
    fixture.hub.served.clear();
    await fixture.pull({ catalogue: [unpinned] });

    assert.deepEqual(manifestIn(path.join(fixture.modelsDir, 'tone')).files, fixture.model.files);
  });
}

test('a part that was damaged on disk is downloaded again', async () => {
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

test('a listing that names files outside of the model has no effect on what is downloaded', async () => {
  await using fixture = await openModelFixture();
  fixture.hub.listedBeside = ['../../../stolen', '/tmp/stolen', '.partial/../../stolen', 'manifest.json', 'other.onnx'];

  const { folder } = await fixture.pull();

  assert.deepEqual(await readdir(folder), ['manifest.json', 'model.onnx', 'tokens.txt']);
  assert.deepEqual(new Set(fixture.hub.downloads.map((one) => one.path)), new Set(['model.onnx', 'tokens.txt']));
  assert.deepEqual(await readdir(path.dirname(fixture.modelsDir)), ['models']);
  assert.equal(manifestIn(folder).name, 'tone');
});

test('a redirect to another server is followed, and its bytes are checked like those of the hub', async () => {
  await using fixture = await openModelFixture();
  await using other = await openModelFixture();
  other.hub.served.set('model.onnx', Buffer.alloc(MODEL_BYTES, 'x'));
  const redirect: Misdeed = { kind: 'redirect', to: `${other.hub.url}/cdn/model.onnx` };

  fixture.hub.misbehave('model.onnx', redirect);
  await assertRefuses(fixture.pull(), 'wrong_bytes', /wrong checksum/);
  assert.deepEqual(await pulledModels(fixture.modelsDir), []);

  other.hub.served.clear();
  fixture.hub.misbehave('model.onnx', redirect);
  assert.equal((await fixture.pull()).kind, 'pulled');
});

for (const [what, to] of [
  ['to itself', '/cdn/model.onnx'],
  ['to a file of this machine', 'file:///etc/hostname'],
] as const) {
  test(`redirects ${what} end the pull, and nothing is written`, async () => {
    await using fixture = await openModelFixture();
    fixture.hub.misbehave('model.onnx', ...Array(1_000).fill({ kind: 'redirect', to }));

    await assertRefuses(fixture.pull(), 'unreachable', /stopped answering/);

    assert.equal((await stat(fixture.part('model.onnx'))).size, 0);
    assert.ok(fixture.hub.downloads.length < 150);
  });
}

test('files of an earlier revision are removed', async () => {
  await using fixture = await openModelFixture();
  await mkdir(path.dirname(fixture.part('old.onnx')), { recursive: true });
  await writeFile(fixture.part('old.onnx'), 'old');

  const { folder } = await fixture.pull();

  assert.deepEqual(await readdir(folder), ['manifest.json', 'model.onnx', 'tokens.txt']);
});

test('a second pull at the same time is refused', async () => {
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

test('a pulled model is reported as such while another pull runs', async () => {
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

test('errors of the hub are reported in a sentence', async () => {
  await using fixture = await openModelFixture();
  const { revision } = fixture.hub;
  const elsewhere = { ...fixture.model, sources: [{ kind: 'hub', repository: 'project/other', revision } as const] };
  const other = { ...fixture.model.files[0]!, path: 'other.onnx' };

  await assertRefuses(fixture.pull({}, 'tune'), 'unknown_model', /There are: tone/);
  await assertRefuses(fixture.pull({ catalogue: [elsewhere] }), 'not_on_hub', /answered 404 for project\/other/);
  await assertRefuses(
    fixture.pull({ catalogue: [{ ...fixture.model, files: [other] }] }),
    'not_on_hub',
    /no other\.onnx/,
  );
  await assertRefuses(
    fixture.pull({ origins: originsOf('http://127.0.0.1:2') }),
    'unreachable',
    /hub .* cannot be reached: nothing listens/,
  );
});

test('a file that the hub refuses is not requested again', async () => {
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

test('a listing that never ends is given up before it fills the memory', async () => {
  await using fixture = await openModelFixture();
  fixture.hub.listsEndlessly = true;
  const before = process.memoryUsage.rss();

  await assertRefuses(fixture.pull(), 'unreachable', /gives no list of files as a hub does/);

  assert.ok(process.memoryUsage.rss() - before < 200 * 2 ** 20);
});

async function assertRefuses(attempt: Promise<unknown>, problem: ModelProblem, message: RegExp): Promise<void> {
  await assert.rejects(attempt, (error: unknown) => {
    assert.ok(error instanceof ModelError, String(error));
    assert.equal(error.problem, problem);
    assert.match(error.message, message);
    return true;
  });
}
