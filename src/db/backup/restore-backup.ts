import { createWriteStream, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { keys32 } from '../../config/values.ts';
import { syncFolder } from '../../platform/files/durable-names.ts';
import { type ArchiveFile, readArchive } from './archive-reader.ts';
import { BackupError, type Header, isAudioKey, type Manifest, NAMES } from './contents.ts';
import type { RestoreFolder } from './restore-folder.ts';
import { RowLoader } from './restore-rows.ts';

export type RestoreTarget = {
  /** The address of PostgreSQL itself; called once the header of the backup has been read. */
  openDatabase(): Promise<string>;
  /** Claimed when the database is known to be empty; null: none is marked. */
  folder: RestoreFolder | null;
  /** The folder for audio files; null where a bucket has them. */
  audioDir: string | null;
  /** Where a key of the backup is written; null: it is left out. */
  keyFile: string | null;
  onProgress: (line: string) => void;
};

/** `isFinished`: an earlier restore had loaded everything, and only its marks were removed now. */
export type Restored = { header: Header; manifest: Manifest | null; migrations: string[]; isFinished: boolean };

const MAX_KEY_BYTES = 4_096;

/**
 * Loads a backup into an empty database, and its audio into an empty folder; then brings the schema to this release.
 * When it fails or is killed, the folder and the database say that they are half-made, and the next restore takes them
 * over. A file that is no backup changes nothing.
 * @throws BackupError  if the backup is damaged or of a later release, or the target is not empty
 */
export async function restoreBackup(source: Readable, target: RestoreTarget): Promise<Restored> {
  const restore = new Restore(target);
  try {
    const manifest = await readArchive(source, restore);
    return { header: restore.header!, manifest, migrations: await restore.commit(manifest), isFinished: false };
  } catch (cause) {
    if (!(cause instanceof AlreadyLoaded)) throw cause;
    await restore.finish();
    return { header: restore.header!, manifest: null, migrations: [], isFinished: true };
  } finally {
    await restore.close();
  }
}

/** Ends the reading of the archive: all of it is in the database. */
class AlreadyLoaded extends Error {}

class Restore {
  header: Header | null = null;
  readonly #target: RestoreTarget;
  #loader: RowLoader | null = null;
  #files = 0;

  constructor(target: RestoreTarget) {
    this.#target = target;
  }

  async begin(found: Header): Promise<void> {
    const { audioDir, folder, openDatabase, onProgress } = this.#target;
    this.header = found;
    if (found.audio === 'files' && audioDir === null)
      throw new BackupError('The backup has audio files: restore it without STORAGE_URL, into DATA_DIR.');
    folder?.requireFree();
    this.#loader = await RowLoader.open(await openDatabase());
    folder?.claim();
    await this.#loader.mark();
    onProgress(`backup of ${found.taken_at} by release ${found.release}`);
    const { state } = this.#loader;
    if (typeof state !== 'string') {
      if (state.loaded === found.taken_at) throw new AlreadyLoaded();
      throw new BackupError(
        `The database already has all of the backup of ${state.loaded}. Run the restore of that backup again to finish it, or name an empty database.`,
      );
    }
    if (audioDir !== null) await clearAudio(audioDir, folder);
    await this.#loader.begin(found);
  }

  async file(file: ArchiveFile): Promise<void> {
    const { audioDir, keyFile } = this.#target;
    if (file.name.startsWith(NAMES.rows)) await this.#loader!.load(file);
    else if (file.name.startsWith(NAMES.audio)) await this.#writeAudio(file, audioDir);
    else if (file.name === NAMES.key && keyFile !== null) await this.#writeKey(file, keyFile);
  }

  async #writeAudio(file: ArchiveFile, folder: string | null): Promise<void> {
    const key = file.name.slice(NAMES.audio.length);
    if (!isAudioKey(key) || folder === null)
      throw new BackupError(`The backup has a file ${JSON.stringify(file.name)} that does not belong there.`);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    await pipeline(file.content, createWriteStream(path.join(folder, key), { mode: 0o600, flags: 'wx', flush: true }));
    this.#files++;
  }

  async #writeKey(file: ArchiveFile, place: string): Promise<void> {
    if (file.bytes > MAX_KEY_BYTES) throw new BackupError('The secrets key in the backup is too long.');
    const chunks: Buffer[] = [];
    for await (const chunk of file.content) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    if ('mistake' in keys32(text)) throw new BackupError('The secrets key in the backup is no key.');
    if (existsSync(place)) {
      if (readFileSync(place, 'utf8').trim() === text.trim()) return;
      throw new BackupError(`${place} has another key than the backup. Put the right one there, or remove the file.`);
    }
    mkdirSync(path.dirname(place), { recursive: true, mode: 0o700 });
    const draft = `${place}.restored`;
    await writeFile(draft, text, { mode: 0o600, flush: true });
    await rename(draft, place);
    syncFolder(path.dirname(place));
    this.#files++;
  }

  /** Keeps the rows, whose audio is durable by now. */
  async commit({ rows }: Manifest): Promise<string[]> {
    const { audioDir, onProgress } = this.#target;
    if (audioDir !== null && existsSync(audioDir)) syncFolder(audioDir);
    const ran = await this.#loader!.commit(this.header!.taken_at);
    const count = Object.values(rows).reduce((sum, number) => sum + number, 0);
    onProgress(`${count} rows, ${this.#files} files`);
    if (ran.length > 0) onProgress(`schema brought up to date: ${ran.join(', ')}`);
    await this.finish();
    return ran;
  }

  /** The folder first: a database that has everything is taken by a service, a folder with a mark is not. */
  async finish(): Promise<void> {
    this.#target.folder?.finish();
    await this.#loader!.finish();
  }

  async close(): Promise<void> {
    await this.#loader?.close().catch(() => undefined);
    this.#target.folder?.release();
  }
}

/**
 * Removes what an earlier restore wrote: it had marked the folder when that was empty.
 * @throws BackupError  where the folder is not marked and not empty
 */
async function clearAudio(audioDir: string, folder: RestoreFolder | null): Promise<void> {
  const found = existsSync(audioDir) ? readdirSync(audioDir) : [];
  if (found.length === 0) return;
  if (!folder?.isTakenOver) throw new BackupError(`The folder ${audioDir} is not empty. Name an empty DATA_DIR.`);
  for (const name of found) await rm(path.join(audioDir, name), { force: true });
}
