import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { openTestDatabase } from '../../../test/fixtures/database/test-database.ts';
import { readConfig } from '../../config/settings.ts';
import { UnusableDatabaseError } from '../../db/unusable-database-error.ts';
import { openStorage } from './open-storage.ts';
import { StorageAwayError } from './storage.ts';
import { settleStorageId } from './storage-identity.ts';

/** A database, and the data directories of nodes that use it. */
async function openEnvironment() {
  const db = await openTestDatabase();
  const folder = await mkdtemp(path.join(os.tmpdir(), 'storage-identity-'));
  const dataDirOf = (name: string) => path.join(folder, name);
  return {
    db,
    dataDirOf,
    async start(name: string) {
      const dataDir = dataDirOf(name);
      const storage = await openStorage(readConfig({ DATA_DIR: dataDir }));
      return await settleStorageId(db, storage, {
        name: `${dataDir}/audio`,
        noteFile: path.join(dataDir, 'storage-id'),
      });
    },
    storageOf: async (name: string, id: string) => await openStorage(readConfig({ DATA_DIR: dataDirOf(name) }), id),
    async [Symbol.asyncDispose]() {
      await db[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    },
  };
}

test('the first start gives database and storage an id, which later starts find', async () => {
  await using environment = await openEnvironment();

  const id = await environment.start('one');
  const again = await environment.start('one');

  assert.match(id!, /^[0-9a-f-]{36}$/);
  assert.equal(again, id);
  assert.equal((await readFile(path.join(environment.dataDirOf('one'), 'audio/storage-id'), 'utf8')).trim(), id);
});

test('a node with another storage is refused with a sentence', async () => {
  await using environment = await openEnvironment();
  await environment.start('one');

  await assert.rejects(environment.start('two'), (error: Error) => {
    return (
      error instanceof UnusableDatabaseError &&
      /is not the one of the database.*Set the same STORAGE_URL/.test(error.message)
    );
  });
});

test('a storage whose disk is not mounted is away, and nothing is read from it or written to it', async () => {
  await using environment = await openEnvironment();
  const id = (await environment.start('one'))!;
  await rm(path.join(environment.dataDirOf('one'), 'audio'), { recursive: true });

  const started = await environment.start('one');
  const storage = await environment.storageOf('one', id);

  assert.equal(started, id);
  assert.match((await storage.whyAway()) ?? '', /its disk is not mounted/);
  const key = '0b9d2f9e-5c1a-4d3b-8f55-1f6b0a3c9d77';
  await assert.rejects(storage.localPath(key), StorageAwayError);
  await assert.rejects(storage.isComplete(key, 5), StorageAwayError);
  await assert.rejects(storage.remove(key), StorageAwayError);
  await assert.rejects(storage.receive(chunks(), { maxBytes: 10 }), StorageAwayError);
});

test('a storage that is taken away while the service runs is away from then on, and back with its folder', async () => {
  await using environment = await openEnvironment();
  const id = (await environment.start('one'))!;
  const storage = await environment.storageOf('one', id);
  const folder = path.join(environment.dataDirOf('one'), 'audio');
  const { key } = await storage.receive(chunks(), { maxBytes: 10 });
  await storage.localPath(key);

  await rename(folder, `${folder}-away`);
  await assert.rejects(storage.localPath(key), StorageAwayError);
  await assert.rejects(storage.isComplete(key, 5), StorageAwayError);
  await mkdir(folder);
  await writeFile(path.join(folder, 'storage-id'), 'another\n');
  await assert.rejects(storage.receive(chunks(), { maxBytes: 10 }), StorageAwayError);
  await rm(folder, { recursive: true });
  await rename(`${folder}-away`, folder);

  await using file = await storage.localPath(key);
  assert.equal(await readFile(file.path, 'utf8'), 'audio');
});

test('in a restored database the id of the original says nothing about the storage there', async () => {
  await using environment = await openEnvironment();
  const id = await environment.start('one');
  await environment.db.run({ text: `update audio_storage set made_in = 'elsewhere/1'` });

  const restored = await environment.start('two');

  assert.notEqual(restored, id);
  assert.equal(await environment.start('two'), restored);
});

async function* chunks() {
  yield Buffer.from('audio');
}
