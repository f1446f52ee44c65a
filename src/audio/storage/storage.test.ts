import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { openS3Server } from '../../../test/fixtures/servers/s3-server.ts';
import { until } from '../../../test/fixtures/until.ts';
import { readConfig } from '../../config/settings.ts';
import { openStorage } from './open-storage.ts';
import type { SharedStorage } from './storage.ts';
import { StorageAwayError, UploadTooLargeError } from './storage.ts';

type Fixture = AsyncDisposable & {
  storage: SharedStorage;
  dataDir: string;
  /** What the storage holds, whole or not. */
  contents(): Promise<string[]>;
  age(key: string, ms: number): void;
};

async function openFileFixture(): Promise<Fixture> {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'storage-'));
  const folder = path.join(dataDir, 'audio');
  return {
    dataDir,
    storage: await openStorage(readConfig({ DATA_DIR: dataDir })),
    contents: () => readdir(folder),
    age: (key, ms) => setAge(path.join(folder, key), ms),
    [Symbol.asyncDispose]: () => rm(dataDir, { recursive: true }),
  };
}

async function openS3Room() {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'storage-'));
  const server = await openS3Server();
  // The SDK reads its keys by itself.
  Object.assign(process.env, server.env);
  const config = readConfig({ ...server.env, DATA_DIR: dataDir, STORAGE_URL: `s3://${server.bucket}/house/one` });
  return {
    dataDir,
    server,
    config,
    storage: await openStorage(config),
    contents: server.contents,
    age: (key: string, ms: number) => setAge(server.fileOf(`house/one/${key}`), ms),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await rm(dataDir, { recursive: true });
    },
  };
}

function setAge(file: string, ms: number): void {
  const at = new Date(Date.now() - ms);
  utimesSync(file, at, at);
}

async function* chunksOf(...texts: string[]) {
  for (const text of texts) yield Buffer.from(text);
}

const MEBIBYTE = 1024 * 1024;

/** Chunks that differ, so that no two may change places. */
async function* mebibytes(count: number, error?: Error) {
  for (let index = 0; index < count; index++) yield Buffer.alloc(MEBIBYTE, index);
  if (error) throw error;
}

const OPENERS: [string, () => Promise<Fixture>][] = [
  ['files', openFileFixture],
  ['S3', openS3Room],
];

for (const [name, openEnvironment] of OPENERS) {
  test(`${name}: what was received can be read back, by nobody but this user`, async () => {
    await using fixture = await openEnvironment();

    const { key, sizeBytes } = await fixture.storage.receive(chunksOf('one ', 'two'), { maxBytes: 7 });

    await using file = await fixture.storage.localPath(key);
    assert.equal(await readFile(file.path, 'utf8'), 'one two');
    assert.equal(sizeBytes, 7);
    assert.equal((await stat(file.path)).mode & 0o777, 0o600);
    assert.equal((await stat(path.dirname(file.path))).mode & 0o777, 0o700);
  });

  test(`${name}: a large file comes back to the byte, and an empty one too`, async () => {
    await using fixture = await openEnvironment();

    const large = await fixture.storage.receive(mebibytes(12), { maxBytes: 2 ** 30 });
    const empty = await fixture.storage.receive(chunksOf(), { maxBytes: 2 ** 30 });

    await using file = await fixture.storage.localPath(large.key);
    await using none = await fixture.storage.localPath(empty.key);
    assert.ok((await readFile(file.path)).equals(Buffer.concat(await Array.fromAsync(mebibytes(12)))));
    assert.equal((await readFile(none.path)).length, 0);
    assert.deepEqual([large.sizeBytes, empty.sizeBytes], [12 * MEBIBYTE, 0]);
  });

  test(`${name}: an upload over the limit leaves nothing, small or large`, async () => {
    await using fixture = await openEnvironment();

    await assert.rejects(fixture.storage.receive(chunksOf('one ', 'two'), { maxBytes: 6 }), UploadTooLargeError);
    await assert.rejects(fixture.storage.receive(mebibytes(12), { maxBytes: 11 * MEBIBYTE }), UploadTooLargeError);

    assert.deepEqual(await fixture.contents(), []);
  });

  test(`${name}: an upload that breaks off says of what, and leaves nothing, small or large`, async () => {
    await using fixture = await openEnvironment();

    await assert.rejects(
      fixture.storage.receive(mebibytes(1, new Error('gone')), { maxBytes: 2 ** 30 }),
      /^Error: gone$/,
    );
    await assert.rejects(
      fixture.storage.receive(mebibytes(12, new Error('gone')), { maxBytes: 2 ** 30 }),
      /^Error: gone$/,
    );

    assert.deepEqual(await fixture.contents(), []);
  });

  test(`${name}: what was removed is gone, and may be removed again`, async () => {
    await using fixture = await openEnvironment();
    const { key } = await fixture.storage.receive(chunksOf('one'), { maxBytes: 100 });

    await fixture.storage.remove(key);
    await fixture.storage.remove(key);

    await using file = await fixture.storage.localPath(key);
    assert.equal(existsSync(file.path), false);
    assert.deepEqual(await fixture.contents(), []);
  });

  test(`${name}: only keys older than the age asked for are listed`, async () => {
    await using fixture = await openEnvironment();
    const old = await fixture.storage.receive(chunksOf('old'), { maxBytes: 100 });
    await fixture.storage.receive(chunksOf('new'), { maxBytes: 100 });
    fixture.age(old.key, 3_600_000);

    const listed = await Array.fromAsync(fixture.storage.listOlderThan(1_800_000));

    assert.deepEqual(listed, [[old.key]]);
  });

  test(`${name}: a key that was not made here never becomes a path`, async () => {
    await using fixture = await openEnvironment();

    await assert.rejects(fixture.storage.localPath('../../etc/passwd'), RangeError);
    await assert.rejects(async () => fixture.storage.remove('../other'), RangeError);
  });

  test(`${name}: a storage that works is not away`, async () => {
    await using fixture = await openEnvironment();

    assert.equal(await fixture.storage.whyAway(), null);
  });
}

test('files: what a killed process left of an upload is removed after five minutes, what is being written is not', async () => {
  await using fixture = await openFileFixture();
  const disk = Promise.withResolvers<void>();
  async function* never() {
    yield Buffer.from('half');
    await disk.promise;
    throw new Error('the test is over');
  }
  const receiving = fixture.storage.receive(never(), { maxBytes: 100 });
  await until('the file', async () => (await fixture.contents()).length === 1);
  const [partial] = await fixture.contents();
  const left = partial!.replace(/[0-9a-f]{12}$/, '000000000000');
  writeFileSync(path.join(fixture.dataDir, 'audio', left), 'half');
  setAge(path.join(fixture.dataDir, 'audio', left), 301_000);

  assert.deepEqual(await Array.fromAsync(fixture.storage.listOlderThan(3_600_000)), []);

  assert.deepEqual(await fixture.contents(), [partial]);
  disk.resolve();
  await assert.rejects(receiving, /the test is over/);
  assert.deepEqual(await fixture.contents(), []);
});

test('S3: a bucket is listed a page at a time, and the next page only when the one before is done with', async () => {
  await using fixture = await openS3Room();
  const keys = ['1', '2', '3', '4'].map((digit) => `${digit.repeat(8)}-0000-4000-8000-000000000000`);
  const [one, two, three, four] = keys.map((key) => `house/one/${key}`);
  const listed = fixture.server.answerLists([[one!, two!], ['house/one/of-others', three!], [four!]]);
  const askedAtEachPage: number[] = [];
  const found: string[][] = [];

  for await (const page of fixture.storage.listOlderThan(1_800_000)) {
    askedAtEachPage.push(listed.asked);
    found.push(page);
  }

  assert.deepEqual(found, [keys.slice(0, 2), [keys[2]], [keys[3]]]);
  assert.deepEqual(askedAtEachPage, [1, 2, 3]);
});

test('S3: objects lie under the prefix, and what a decoder read is erased from this machine', async () => {
  await using fixture = await openS3Room();
  const { key } = await fixture.storage.receive(chunksOf('one'), { maxBytes: 100 });

  const file = await fixture.storage.localPath(key);
  await file[Symbol.asyncDispose]();

  assert.deepEqual(await fixture.contents(), [`house/one/${key}`]);
  assert.equal(existsSync(file.path), false);
});

test('S3: two nodes with one bucket read what the other received', async () => {
  await using fixture = await openS3Room();
  const other = await openStorage({ ...fixture.config, dataDir: path.join(fixture.dataDir, 'other') });
  const { key } = await fixture.storage.receive(chunksOf('one'), { maxBytes: 100 });

  await using file = await other.localPath(key);

  assert.equal(await readFile(file.path, 'utf8'), 'one');
});

test('S3: a bucket that refuses is no fault of the audio: the caller is told to come back', async () => {
  await using fixture = await openS3Room();
  const { key } = await fixture.storage.receive(chunksOf('one'), { maxBytes: 100 });
  fixture.server.answerAll(403);

  await assert.rejects(fixture.storage.receive(mebibytes(6), { maxBytes: 2 ** 30 }), StorageAwayError);
  await assert.rejects(fixture.storage.localPath(key), StorageAwayError);
  await assert.rejects(fixture.storage.remove(key), StorageAwayError);
  await assert.rejects(Array.fromAsync(fixture.storage.listOlderThan(0)), StorageAwayError);

  assert.notEqual(await fixture.storage.whyAway(), null);
  assert.deepEqual(await readdir(path.join(fixture.dataDir, 'audio', 'fetched')), []);
});

test('S3: a bucket that is not there, or a server that is not, is named', async () => {
  await using fixture = await openS3Room();
  const noBucket = await openStorage({ ...fixture.config, storageUrl: 's3://elsewhere' });
  const noServer = await openStorage({ ...fixture.config, s3Endpoint: 'http://127.0.0.1:1' });

  assert.equal(await noBucket.whyAway(), 'NoSuchBucket');
  assert.equal(await noServer.whyAway(), 'ECONNREFUSED');
});

test('S3: uploads that a dead process left are given up once they are old, and only ours', async () => {
  await using fixture = await openS3Room();
  const begun = { old: 'house/one/', foreign: 'house/two/', young: 'house/one/' };
  for (const [id, prefix] of Object.entries(begun)) {
    const folder = path.join(fixture.server.folderOfUploads, id);
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'key'), `${prefix}00000000-0000-4000-8000-000000000000`);
    if (id !== 'young') setAge(path.join(folder, 'key'), 3_600_000);
  }

  await Array.fromAsync(fixture.storage.listOlderThan(1_800_000));

  assert.deepEqual((await fixture.contents()).toSorted(), ['foreign', 'young']);
});

test('S3: what a killed process had fetched is erased at the next start, what a living one reads is not', async () => {
  await using fixture = await openS3Room();
  const folder = path.join(fixture.dataDir, 'audio', 'fetched');
  const dead = spawnSync(process.execPath, ['--version']).pid;
  for (const pid of [dead, process.pid, process.ppid]) writeFileSync(path.join(folder, `${pid}.audio`), 'bytes');

  await openStorage(fixture.config);

  assert.deepEqual(await readdir(folder), [`${process.ppid}.audio`]);
});
