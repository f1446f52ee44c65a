import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { openS3Server, type S3Server } from '../../../test/fixtures/servers/s3-server.ts';
import {
  openVersityGateway,
  type VersityGateway,
  WITHOUT_VERSITYGW,
} from '../../../test/fixtures/servers/versity-gateway.ts';
import { until } from '../../../test/fixtures/until.ts';
import { readConfig } from '../../config/settings.ts';
import { FolderSync } from './folder-sync.ts';
import { openStorage } from './open-storage.ts';
import { type SharedStorage, StorageAwayError, UploadTooLargeError } from './storage.ts';

type Fixture = AsyncDisposable & {
  storage: SharedStorage;
  dataDir: string;
  /** All names in the storage, those of partial files included. */
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

const openS3Fixture = () => openBucketFixture(openS3Server);

async function openBucketFixture<Server extends S3Server | VersityGateway>(openServer: () => Promise<Server>) {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'storage-'));
  const server = await openServer();
  // The SDK reads its credentials from the environment.
  Object.assign(process.env, server.env);
  const config = readConfig({ ...server.env, DATA_DIR: dataDir, STORAGE_URL: `s3://${server.bucket}/prefix/one` });
  return {
    dataDir,
    server,
    config,
    storage: await openStorage(config),
    contents: server.contents,
    age: (key: string, ms: number) => setAge(server.fileOf(`prefix/one/${key}`), ms),
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

/** Makes the syncs of a folder fail: its descriptor becomes one of a device. */
function breakSyncs(folder: string): void {
  const isOfFolder = (name: string) =>
    existsSync(`/proc/self/fd/${name}`) && readlinkSync(`/proc/self/fd/${name}`) === folder;
  const descriptor = Number(readdirSync('/proc/self/fd').find(isOfFolder));
  closeSync(descriptor);
  while (openSync('/dev/null', 'r') !== descriptor);
}

async function* chunksOf(...texts: string[]) {
  for (const text of texts) yield Buffer.from(text);
}

const MEBIBYTE = 1024 * 1024;

/** Chunks with different contents, so that a wrong order is detected. */
async function* mebibytes(count: number, error?: Error) {
  for (let index = 0; index < count; index++) yield Buffer.alloc(MEBIBYTE, index);
  if (error) throw error;
}

const OPENERS: [string, () => Promise<Fixture>, string | false][] = [
  ['files', openFileFixture, false],
  ['S3', openS3Fixture, false],
  ['Versity S3 Gateway', () => openBucketFixture(openVersityGateway), WITHOUT_VERSITYGW],
];

for (const [name, openEnvironment, skip] of OPENERS) {
  test(`${name}: received audio can be read back, by this user only`, { skip }, async () => {
    await using fixture = await openEnvironment();

    const { key, sizeBytes } = await fixture.storage.receive(chunksOf('one ', 'two'), { maxBytes: 7 });

    await using file = await fixture.storage.localPath(key);
    assert.equal(await readFile(file.path, 'utf8'), 'one two');
    assert.equal(sizeBytes, 7);
    assert.equal((await stat(file.path)).mode & 0o777, 0o600);
    assert.equal((await stat(path.dirname(file.path))).mode & 0o777, 0o700);
  });

  test(`${name}: a large file and an empty file are returned unchanged`, { skip }, async () => {
    await using fixture = await openEnvironment();

    const large = await fixture.storage.receive(mebibytes(12), { maxBytes: 2 ** 30 });
    const empty = await fixture.storage.receive(chunksOf(), { maxBytes: 2 ** 30 });

    await using file = await fixture.storage.localPath(large.key);
    await using none = await fixture.storage.localPath(empty.key);
    assert.ok((await readFile(file.path)).equals(Buffer.concat(await Array.fromAsync(mebibytes(12)))));
    assert.equal((await readFile(none.path)).length, 0);
    assert.deepEqual([large.sizeBytes, empty.sizeBytes], [12 * MEBIBYTE, 0]);
  });

  test(`${name}: audio of another size, and that of a deleted key, is not complete`, { skip }, async () => {
    await using fixture = await openEnvironment();
    const { storage } = fixture;
    const { key } = await storage.receive(chunksOf('0123456789'), { maxBytes: 10 });

    const answers = [await storage.isComplete(key, 10), await storage.isComplete(key, 11)];
    await storage.remove(key);

    assert.deepEqual([...answers, await storage.isComplete(key, 10)], [true, false, false]);
  });

  test(`${name}: a part of the audio is read, and nothing of a deleted key`, { skip }, async () => {
    await using fixture = await openEnvironment();
    const { storage } = fixture;
    const { key } = await storage.receive(chunksOf('0123456789'), { maxBytes: 10 });
    const read = async (first: number, last: number) => {
      const stream = await storage.read(key, { first, last });
      return stream && Buffer.concat(await Array.fromAsync(stream)).toString();
    };

    const parts = [await read(0, 9), await read(3, 5), await read(9, 9)];
    await storage.remove(key);

    assert.deepEqual(parts, ['0123456789', '345', '9']);
    assert.equal(await read(0, 9), null);
  });

  test(`${name}: a copy outlives its original, is as young as the copying, and there is none of a deleted key`, {
    skip,
  }, async () => {
    await using fixture = await openEnvironment();
    const { storage } = fixture;
    const { key } = await storage.receive(chunksOf('audio'), { maxBytes: 5 });
    fixture.age(key, 7_200_000);

    const copied = (await storage.copy(key))!;
    const old = (await Array.fromAsync(storage.listOlderThan(3_600_000))).flat();
    await storage.remove(key);
    const again = await storage.copy(key);

    await using file = await storage.localPath(copied);
    assert.equal(await readFile(file.path, 'utf8'), 'audio');
    assert.ok(copied !== key && !old.includes(copied), `${copied} is in ${old.join()}`);
    assert.equal(again, null);
    await storage.remove(copied);
    assert.deepEqual(await fixture.contents(), []);
  });

  test(`${name}: an upload over the limit leaves nothing, small or large`, { skip }, async () => {
    await using fixture = await openEnvironment();

    await assert.rejects(fixture.storage.receive(chunksOf('one ', 'two'), { maxBytes: 6 }), UploadTooLargeError);
    await assert.rejects(fixture.storage.receive(mebibytes(12), { maxBytes: 11 * MEBIBYTE }), UploadTooLargeError);

    assert.deepEqual(await fixture.contents(), []);
  });

  test(`${name}: an upload whose source fails rejects with that error and leaves nothing, small or large`, {
    skip,
  }, async () => {
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

  test(`${name}: removed audio is gone, and can be removed again`, { skip }, async () => {
    await using fixture = await openEnvironment();
    const { key } = await fixture.storage.receive(chunksOf('one'), { maxBytes: 100 });

    await fixture.storage.remove(key);
    await fixture.storage.remove(key);

    await using file = await fixture.storage.localPath(key);
    assert.equal(existsSync(file.path), false);
    assert.deepEqual(await fixture.contents(), []);
  });

  test(`${name}: only keys older than the given age are listed`, { skip }, async () => {
    await using fixture = await openEnvironment();
    const old = await fixture.storage.receive(chunksOf('old'), { maxBytes: 100 });
    await fixture.storage.receive(chunksOf('new'), { maxBytes: 100 });
    fixture.age(old.key, 3_600_000);

    const listed = await Array.fromAsync(fixture.storage.listOlderThan(1_800_000));

    assert.deepEqual(listed, [[old.key]]);
  });

  test(`${name}: a text that is not a key never becomes a path`, { skip }, async () => {
    await using fixture = await openEnvironment();

    await assert.rejects(fixture.storage.localPath('../../etc/passwd'), RangeError);
    await assert.rejects(async () => fixture.storage.remove('../other'), RangeError);
  });

  test(`${name}: a scratch file can be written and read, and is in no folder`, { skip }, async () => {
    await using fixture = await openEnvironment();
    await using file = await fixture.storage.openScratch();

    await file.write('scratch');
    const { buffer } = await file.read(Buffer.alloc(7), 0, 7, 0);

    assert.equal(buffer.toString(), 'scratch');
    const left = await readdir(fixture.dataDir, { recursive: true, withFileTypes: true });
    assert.deepEqual(
      left.filter((entry) => entry.isFile()).map((entry) => entry.name),
      [],
    );
  });

  test(`${name}: a working storage is not reported as away`, { skip }, async () => {
    await using fixture = await openEnvironment();

    assert.equal(await fixture.storage.whyAway(), null);
  });
}

test('files: partial files of a killed process are removed after an hour, those of running uploads are kept', async () => {
  await using fixture = await openFileFixture();
  const disk = Promise.withResolvers<void>();
  async function* never() {
    // Smaller files are not on disk before they are complete.
    yield Buffer.alloc(MEBIBYTE);
    await disk.promise;
    throw new Error('the test is over');
  }
  const receiving = fixture.storage.receive(never(), { maxBytes: MEBIBYTE });
  await until('the file', async () => (await fixture.contents()).length === 1);
  const [partial] = await fixture.contents();
  const left = partial!.replace(/[0-9a-f]{12}$/, '000000000000');
  writeFileSync(path.join(fixture.dataDir, 'audio', left), 'half');
  setAge(path.join(fixture.dataDir, 'audio', left), 3_601_000);

  assert.deepEqual(await Array.fromAsync(fixture.storage.listOlderThan(3_600_000)), []);

  assert.deepEqual(await fixture.contents(), [partial]);
  disk.resolve();
  await assert.rejects(receiving, /the test is over/);
  assert.deepEqual(await fixture.contents(), []);
});

test('files: audio that cannot be made durable is removed', { skip: process.platform !== 'linux' }, async () => {
  await using fixture = await openFileFixture();
  breakSyncs(path.join(fixture.dataDir, 'audio'));

  const { durable } = await fixture.storage.receive(chunksOf('one'), { maxBytes: 100 });

  await assert.rejects(durable, (error: Error) => {
    return error instanceof StorageAwayError && (error.cause as NodeJS.ErrnoException).code === 'EINVAL';
  });
  assert.deepEqual(await fixture.contents(), []);
});

test('S3: each page of a bucket is requested when the page before has been consumed', async () => {
  await using fixture = await openS3Fixture();
  const keys = ['1', '2', '3', '4'].map((digit) => `${digit.repeat(8)}-0000-4000-8000-000000000000`);
  const [one, two, three, four] = keys.map((key) => `prefix/one/${key}`);
  const listed = fixture.server.answerLists([[one!, two!], ['prefix/one/of-others', three!], [four!]]);
  const askedAtEachPage: number[] = [];
  const found: string[][] = [];

  for await (const page of fixture.storage.listOlderThan(1_800_000)) {
    askedAtEachPage.push(listed.asked);
    found.push(page);
  }

  assert.deepEqual(found, [keys.slice(0, 2), [keys[2]], [keys[3]]]);
  assert.deepEqual(askedAtEachPage, [1, 2, 3]);
});

test('S3: objects have the prefix, and copies for a decoder are deleted afterwards', async () => {
  await using fixture = await openS3Fixture();
  const { key } = await fixture.storage.receive(chunksOf('one'), { maxBytes: 100 });

  const file = await fixture.storage.localPath(key);
  await file[Symbol.asyncDispose]();

  assert.deepEqual(await fixture.contents(), [`prefix/one/${key}`]);
  assert.equal(existsSync(file.path), false);
});

test('S3: two nodes with one bucket can read uploads of each other', async () => {
  await using fixture = await openS3Fixture();
  const other = await openStorage({ ...fixture.config, dataDir: path.join(fixture.dataDir, 'other') });
  const { key } = await fixture.storage.receive(chunksOf('one'), { maxBytes: 100 });

  await using file = await other.localPath(key);

  assert.equal(await readFile(file.path, 'utf8'), 'one');
});

test('S3: an error of the bucket is reported as 503, not as an error of the audio', async () => {
  await using fixture = await openS3Fixture();
  const { key } = await fixture.storage.receive(chunksOf('one'), { maxBytes: 100 });
  fixture.server.answerAll(403);

  await assert.rejects(fixture.storage.receive(mebibytes(6), { maxBytes: 2 ** 30 }), StorageAwayError);
  await assert.rejects(fixture.storage.localPath(key), StorageAwayError);
  await assert.rejects(fixture.storage.remove(key), StorageAwayError);
  await assert.rejects(Array.fromAsync(fixture.storage.listOlderThan(0)), StorageAwayError);

  assert.match((await fixture.storage.whyAway())!, /refuses the access/);
  assert.deepEqual(await readdir(path.join(fixture.dataDir, 'audio', 'fetched')), []);
});

test('S3: a missing bucket and an unreachable server are reported with what to do', async () => {
  await using fixture = await openS3Fixture();
  const noBucket = await openStorage({ ...fixture.config, storageUrl: 's3://elsewhere' });
  const noServer = await openStorage({ ...fixture.config, s3Endpoint: 'http://127.0.0.1:1' });

  assert.match((await noBucket.whyAway())!, /no such bucket: create it, or correct STORAGE_URL/);
  assert.match((await noServer.whyAway())!, /\(AWS_ENDPOINT_URL_S3\) cannot be reached: nothing listens/);
});

test('S3: old unfinished uploads of this storage are aborted, others are kept', async () => {
  await using fixture = await openS3Fixture();
  const begun = { old: 'prefix/one/', foreign: 'prefix/two/', young: 'prefix/one/' };
  for (const [id, prefix] of Object.entries(begun)) {
    const folder = path.join(fixture.server.folderOfUploads, id);
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'key'), `${prefix}00000000-0000-4000-8000-000000000000`);
    if (id !== 'young') setAge(path.join(folder, 'key'), 3_600_000);
  }

  await Array.fromAsync(fixture.storage.listOlderThan(1_800_000));

  assert.deepEqual((await fixture.contents()).toSorted(), ['foreign', 'young']);
});

test('S3: copies of a killed process are deleted at the next start, those of a running process are kept', async () => {
  await using fixture = await openS3Fixture();
  const folder = path.join(fixture.dataDir, 'audio', 'fetched');
  const dead = spawnSync(process.execPath, ['--version']).pid;
  for (const pid of [dead, process.pid, process.ppid]) writeFileSync(path.join(folder, `${pid}.audio`), 'bytes');

  await openStorage(fixture.config);

  assert.deepEqual(await readdir(folder), [`${process.ppid}.audio`]);
});

test('deleted audio stays deleted after a power failure', async (t) => {
  await using fixture = await openFileFixture();
  const { key, durable } = await fixture.storage.receive(chunksOf('audio'), { maxBytes: 100 });
  await durable;
  const synced: string[][] = [];
  t.mock.method(FolderSync.prototype, 'sync', async () => void synced.push(await fixture.contents()));

  await fixture.storage.remove(key);

  assert.deepEqual(synced, [[]]);
});
