import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import type { Writable } from 'node:stream';
import { VERSION } from '../../platform/installation.ts';
import { openDatabase, type Sql } from '../database.ts';
import { listVersions } from '../schema/versions.ts';
import { ArchiveWriter } from './archive-writer.ts';
import { BackupError, FORMAT, type Header, isAudioKey, type Manifest, NAMES } from './contents.ts';
import { requireWholeDatabase } from './restore-marker.ts';
import { copyOut, openSnapshot, readColumn, type Snapshot } from './snapshot.ts';

export type BackupOptions = {
  /** PostgreSQL itself. */
  url: string;
  /** The folder of the audio files; null where a bucket has them. */
  audioDir: string | null;
  /** What encrypts the secrets in the rows; null leaves it out. */
  secretsKey: string | null;
  /** Gets a line for each table, and one for the audio. */
  onProgress: (line: string) => void;
};

/** Where the rows name the audio that belongs to the snapshot. */
const AUDIO = { table: 'jobs', column: 'audio_key' };

/**
 * Writes a backup of a service that runs: the rows of one moment, the audio that they name, and a manifest with the
 * hash of each file.
 * @throws UnfinishedRestoreError  if a restore into the database has not ended
 * @throws BackupError  if the database has not been migrated by this release
 */
export async function createBackup(target: Writable, options: BackupOptions): Promise<Manifest> {
  await onDatabase(options.url, requireWholeDatabase);
  await using snapshot = await openSnapshot(options.url);
  const archive = new ArchiveWriter(target);
  const header: Header = {
    format: FORMAT,
    release: VERSION,
    taken_at: snapshot.takenAt,
    migrations: await migrationsOf(options.url),
    tables: snapshot.tables,
    partitions: snapshot.partitions,
    audio: options.audioDir === null ? 'listed' : 'files',
  };
  await archive.add(NAMES.header, toJson(header));
  const rows = await addRows(archive, snapshot, options.onProgress);
  const keys = await readColumn(snapshot, AUDIO.table, AUDIO.column);
  const missing = options.audioDir === null ? [] : await addAudio(archive, options.audioDir, keys);
  options.onProgress(`audio: ${keys.length - missing.length} files${options.audioDir === null ? ' listed' : ''}`);
  if (options.secretsKey !== null) await archive.add(NAMES.key, Buffer.from(`${options.secretsKey}\n`));
  const listed = options.audioDir === null ? keys : [];
  const manifest = { rows, missing_audio: missing, listed_audio: listed, files: [...archive.files] };
  await archive.add(NAMES.manifest, toJson(manifest));
  await archive.finish();
  return manifest;
}

async function migrationsOf(url: string): Promise<Header['migrations']> {
  try {
    const applied = await onDatabase(url, listVersions);
    return applied.map(({ sha256, ...row }) => ({ ...row, sha256: sha256! }));
  } catch (cause) {
    throw new BackupError('The database has no schema of this release: start the service on it once.', { cause });
  }
}

async function onDatabase<Result>(url: string, work: (sql: Sql) => Promise<Result>): Promise<Result> {
  const db = openDatabase(url, { maxConnections: 1 });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

async function addRows(archive: ArchiveWriter, snapshot: Snapshot, onProgress: BackupOptions['onProgress']) {
  const rows: Record<string, number> = {};
  for (const table of snapshot.tables) {
    rows[table.name] = 0;
    let number = 0;
    for await (const { part, rows: count } of copyOut(snapshot, table)) {
      await archive.add(`${NAMES.rows}${table.name}/${String(number++).padStart(6, '0')}`, part);
      rows[table.name]! += count;
    }
    onProgress(`${table.name}: ${rows[table.name]} rows`);
  }
  return rows;
}

/** Returns the keys whose files are gone: retention deletes them while the backup is written. */
async function addAudio(archive: ArchiveWriter, folder: string, keys: string[]): Promise<string[]> {
  const missing: string[] = [];
  for (const key of keys) {
    // It becomes a path.
    if (!isAudioKey(key))
      throw new BackupError(`A job has the audio ${JSON.stringify(key)}, which is no key of the storage.`);
    try {
      await using file = await open(path.join(folder, key));
      const { size } = await file.stat();
      const content = createReadStream('', { fd: file.fd, autoClose: false, start: 0, end: Math.max(size - 1, 0) });
      await archive.addStream(NAMES.audio + key, size, content);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      missing.push(key);
    }
  }
  return missing;
}

function toJson(value: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(value, null, 1)}\n`);
}
