import { createWriteStream, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { openDatabase } from '../database.ts';
import { migrate } from '../schema/migrate.ts';
import { type ArchiveFile, readArchive } from './archive-reader.ts';
import { BackupError, type Header, type Manifest, NAMES } from './contents.ts';
import { RowLoader } from './restore-rows.ts';

export type RestoreTarget = {
  /** PostgreSQL itself, with an empty database. */
  url: string;
  /** The folder for audio files; null where a bucket has them. */
  audioDir: string | null;
  /** Where a key of the backup is written; null: it is left out. */
  keyFile: string | null;
  onProgress: (line: string) => void;
};

export type Restored = { header: Header; manifest: Manifest; migrations: string[] };

/**
 * Loads a backup into an empty database, and its audio into an empty folder; then brings the schema to this release.
 * Nothing of it stays when it fails.
 * @throws BackupError  if the backup is damaged or of a later release, or the target is not empty
 */
export async function restoreBackup(source: Readable, target: RestoreTarget): Promise<Restored> {
  if (target.audioDir !== null) requireEmpty(target.audioDir);
  const loader = await RowLoader.open(target.url);
  const written: string[] = [];
  let header: Header | null = null;
  try {
    const manifest = await readArchive(source, {
      async begin(found) {
        header = found;
        if (found.audio === 'files' && target.audioDir === null) {
          throw new BackupError('The backup has audio files: restore it without STORAGE_URL, into DATA_DIR.');
        }
        target.onProgress(`backup of ${found.taken_at} by release ${found.release}`);
        await loader.begin(found);
      },
      async file(file) {
        if (file.name.startsWith(NAMES.rows)) await loader.load(file);
        else if (file.name.startsWith(NAMES.audio)) await writeAudio(file, target.audioDir!, written);
        else if (file.name === NAMES.key && target.keyFile !== null) await writeKey(file, target.keyFile, written);
      },
    });
    await loader.commit();
    await loader.close();
    const rows = Object.values(manifest.rows).reduce((sum, count) => sum + count, 0);
    target.onProgress(`${rows} rows, ${written.length} files`);
    return { header: header!, manifest, migrations: await migrateTarget(target) };
  } catch (cause) {
    await loader.close().catch(() => undefined);
    for (const file of written) await rm(file, { force: true });
    throw cause;
  }
}

/** @throws BackupError */
function requireEmpty(folder: string): void {
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new BackupError(`The folder ${folder} is not empty. Name an empty DATA_DIR.`);
}

async function writeAudio(file: ArchiveFile, folder: string, written: string[]): Promise<void> {
  const key = file.name.slice(NAMES.audio.length);
  // The name becomes a path.
  if (!/^[\w-]+$/.test(key)) throw new BackupError(`The backup has a file ${file.name}, which is no audio.`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const place = path.join(folder, key);
  written.push(place);
  await pipeline(file.content, createWriteStream(place, { mode: 0o600, flags: 'wx', flush: true }));
}

async function writeKey(file: ArchiveFile, place: string, written: string[]): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of file.content) chunks.push(chunk);
  mkdirSync(path.dirname(place), { recursive: true, mode: 0o700 });
  writeFileSync(place, Buffer.concat(chunks), { mode: 0o600, flag: 'wx' });
  written.push(place);
}

async function migrateTarget({ url, onProgress }: RestoreTarget): Promise<string[]> {
  const db = openDatabase(url, { maxConnections: 1 });
  try {
    const ran = await migrate(db);
    if (ran.length > 0) onProgress(`schema brought up to date: ${ran.join(', ')}`);
    return ran;
  } finally {
    await db.close();
  }
}
