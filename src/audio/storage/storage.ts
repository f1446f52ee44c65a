import { randomUUID } from 'node:crypto';
import { closeSync, fsync as fsyncWithCallback, open as openWithCallback, writev as writevWithCallback } from 'node:fs';
import {
  constants,
  copyFile,
  type FileHandle,
  link,
  opendir,
  open as openHandle,
  rename,
  stat,
  statfs,
  unlink,
  utimes,
} from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import type { Runtime } from '../../db/runtime.ts';
import { ApiError } from '../../http/api-error.ts';
import { makeDurableFolder } from '../../platform/files/durable-names.ts';
import type { ByteRange } from '../../rules/byte-range.ts';
import { FolderSync } from './folder-sync.ts';
import { isDiskFull } from './free-disk.ts';

const open = promisify(openWithCallback);
const writev = promisify(writevWithCallback);
const fsync = promisify(fsyncWithCallback);

/** Uploaded audio by key. The storage makes the keys; no text of a client becomes part of a path. */
export type AudioStorage = {
  /**
   * Stores the bytes as they arrive; once it resolves they can be read. An incomplete upload is removed.
   * @throws UploadTooLargeError
   */
  receive(bytes: AsyncIterable<Uint8Array>, limits: { maxBytes: number }): Promise<ReceivedAudio>;
  /**
   * A file that a decoder can open, until it is disposed. There is no file at the path for a deleted key, nor where the
   * storage has gone away since: then `isComplete` throws.
   * @throws StorageAwayError
   */
  localPath(key: string): Promise<{ path: string } & AsyncDisposable>;
  /** The bytes from the first to the last, both included; null for a deleted key. */
  read(key: string, bytes: ByteRange): Promise<Readable | null>;
  /**
   * Whether this number of bytes of the audio is stored and survives a power failure. False for a deleted key.
   * @throws StorageAwayError
   */
  isComplete(key: string, sizeBytes: number): Promise<boolean>;
  /** Makes the same audio available under a second key, which is deleted on its own; null for a deleted key. */
  copy(key: string): Promise<string | null>;
  /** Deletes the audio; does nothing for a deleted key. */
  remove(key: string): Promise<void>;
  /** Pages of the keys last written more than `ageMs` ago, whether or not a job has them; there may be millions. */
  listOlderThan(ageMs: number): AsyncIterable<string[]>;
  /** Free bytes on the disk of this node that holds uploads or their copies for the decoder. */
  freeBytes(): Promise<number>;
  /** An empty file on that disk without a name: its space is free again when it is closed, by a crash as well. */
  openScratch(): Promise<FileHandle>;
};

/** What the parts of a role run on that read or write audio. */
export type StorageRuntime = Runtime & { storage: AudioStorage };

/**
 * Audio that can be read.
 * @property durable  resolves when it survives a power failure: nobody may be told before that it is stored. Removes
 *                    the audio when it rejects; that it rejects need not be handled.
 */
export type ReceivedAudio = { key: string; sizeBytes: number; durable: Promise<void> };

/** A storage that may be on another machine. */
export type SharedStorage = AudioStorage & {
  /**
   * Why the storage cannot be used now and what to do, as a phrase without an address, which strangers may read; null
   * when it works.
   */
  whyAway(): Promise<string | null>;
  /** The id that `writeId` wrote; null in a storage without one. @throws StorageAwayError */
  readId(): Promise<string | null>;
  writeId(id: string): Promise<void>;
  /** What changes when another storage stands in its place; null where only the id tells. Costs less than `readId`. */
  readPlace(): Promise<string | null>;
};

export class UploadTooLargeError extends Error {
  constructor(maxBytes: number) {
    super(`The file is larger than ${maxBytes} bytes.`);
    this.name = 'UploadTooLargeError';
  }
}

/** The file was removed, or cut off by a power failure. */
export class AudioGoneError extends Error {
  constructor(options?: ErrorOptions) {
    super('The audio is no longer there.', options);
    this.name = 'AudioGoneError';
  }
}

/** The storage is unreachable or refuses access; the audio itself is not at fault. Clients may retry. */
export class StorageAwayError extends ApiError {
  readonly fault = 'storage';

  constructor(cause: unknown) {
    super('unavailable', 'The audio storage cannot be reached now. Try again later.', {
      headers: { 'retry-after': '5' },
      cause,
    });
    this.name = 'StorageAwayError';
  }
}

/** The name of the file or object that holds the storage's id. */
export const ID_NAME = 'storage-id';

// The page size of S3.
const PAGE_FILES = 1000;
const PARTIAL_PREFIX = 'partial-';
/**
 * Smaller files are written at once when they are complete, under their own name: an upload holds as much in memory.
 */
export const WRITE_BYTES = 256 * 1024;
// All tries of a fetch end within it; an upload is written to at least every 32 s.
const PARTIAL_AGE_MS = 3_600_000;

/** Stores audio as one file per key in a folder that only this user can read; creates the folder. */
export async function openFileStorage(folder: string): Promise<AudioStorage> {
  makeDurableFolder(folder, { mode: 0o700 });
  const names = new FolderSync(folder);
  return {
    receive: (bytes, { maxBytes }) => receive(folder, names, bytes, maxBytes),
    localPath: async (key) => ({ path: pathOf(folder, key), [Symbol.asyncDispose]: async () => undefined }),
    read: (key, bytes) => readFile(pathOf(folder, key), bytes),
    isComplete: (key, sizeBytes) => isComplete(pathOf(folder, key), names, sizeBytes),
    copy: (key) => copyWithin(folder, names, key),
    // Deleted audio must not be back after a power failure.
    remove: async (key) => {
      if (await removeFile(pathOf(folder, key))) await names.sync().catch(rethrowAway);
    },
    listOlderThan: (ageMs) => listOlderThan(folder, ageMs),
    freeBytes: () => freeBytesAt(folder).catch(rethrowAway),
    // A process that dies before the name is removed leaves what the sweep takes for a partial upload.
    openScratch: () => openScratchFile(path.join(folder, PARTIAL_PREFIX + randomUUID())),
  };
}

async function receive(folder: string, names: FolderSync, bytes: AsyncIterable<Uint8Array>, maxBytes: number) {
  const key = randomUUID();
  const [partial, complete] = [path.join(folder, PARTIAL_PREFIX + key), pathOf(folder, key)];
  let file: number | null = null;
  try {
    let sizeBytes = 0;
    let gathered: Uint8Array[] = [];
    let gatheredBytes = 0;
    for await (const chunk of bytes) {
      sizeBytes += chunk.length;
      if (sizeBytes > maxBytes) throw new UploadTooLargeError(maxBytes);
      gathered.push(chunk);
      gatheredBytes += chunk.length;
      if (gatheredBytes < WRITE_BYTES) continue;
      file ??= await open(partial, 'wx', 0o600).catch(rethrowAway);
      // One write at a time: a slow disk slows the sender down and memory does not grow.
      await writeAll(file, gathered).catch(rethrowAway);
      gathered = [];
      gatheredBytes = 0;
    }
    const isSmall = file === null;
    file ??= await open(complete, 'wx', 0o600).catch(rethrowAway);
    await writeAll(file, gathered).catch(rethrowAway);
    if (isSmall) {
      const durable = makeDurable(file, complete, names);
      durable.catch(() => undefined);
      return { key, sizeBytes, durable };
    }
    await nameFile(file, [partial, complete], names).catch(rethrowAway);
    closeSync(file);
    return { key, sizeBytes, durable: Promise.resolve() };
  } catch (cause) {
    if (file !== null) closeSync(file);
    for (const name of [partial, complete]) await removeFile(name).catch(() => undefined);
    throw cause;
  }
}

/** Syncs a written file and its name, and closes it. Removes the file where that fails. */
async function makeDurable(file: number, name: string, names: FolderSync): Promise<void> {
  const syncs = await Promise.allSettled([fsync(file), names.sync()]);
  // Nothing is left to be written: to wake a thread of the pool would take longer.
  closeSync(file);
  const failed = syncs.find((sync) => sync.status === 'rejected');
  if (!failed) return;
  await removeFile(name).catch(() => undefined);
  rethrowAway(failed.reason);
}

/** A file gets its key as its name when it is complete, so that the leftovers of a killed process can be recognised. */
async function nameFile(file: number, [from, to]: [string, string], names: FolderSync): Promise<void> {
  await fsync(file);
  await rename(from, to);
  await names.sync();
}

async function writeAll(file: number, chunks: Uint8Array[]): Promise<void> {
  let rest = chunks;
  while (rest.length > 0) {
    const { bytesWritten } = await writev(file, rest);
    rest = withoutFirst(rest, bytesWritten);
  }
}

function withoutFirst(chunks: Uint8Array[], bytes: number): Uint8Array[] {
  let left = bytes;
  return chunks.flatMap((chunk) => {
    const kept = chunk.subarray(left);
    left = Math.max(0, left - chunk.length);
    return kept.length > 0 ? [kept] : [];
  });
}

async function readFile(file: string, { first, last }: ByteRange): Promise<Readable | null> {
  try {
    const handle = await openHandle(file);
    return handle.createReadStream({ start: first, end: last });
  } catch (cause) {
    return nullWhenMissing(cause);
  }
}

/** Syncs the file: the process that wrote it may have been killed before it did. */
async function isComplete(file: string, names: FolderSync, sizeBytes: number): Promise<boolean> {
  const handle = await openHandle(file).catch(nullWhenMissing);
  if (handle === null) return false;
  await using opened = handle;
  const { size } = await opened.stat().catch(rethrowAway);
  if (size !== sizeBytes) return false;
  await Promise.all([opened.sync(), names.sync()]).catch(rethrowAway);
  return true;
}

/** A hard link: the audio is stored once, until both names are removed. A copy where the file system has no links. */
async function copyWithin(folder: string, names: FolderSync, key: string): Promise<string | null> {
  const copied = randomUUID();
  const [from, to] = [pathOf(folder, key), pathOf(folder, copied)];
  try {
    // Both names have this age: the sweep of files without a job must not take the new one for an old one.
    await utimes(from, new Date(), new Date());
    await link(from, to).catch(async (cause: NodeJS.ErrnoException) => {
      if (cause.code === 'ENOENT') throw cause;
      await copyFile(from, to, constants.COPYFILE_EXCL);
      await using copy = await openHandle(to, 'r+');
      await copy.sync();
    });
    await names.sync();
    return copied;
  } catch (cause) {
    await removeFile(to).catch(() => undefined);
    return nullWhenMissing(cause);
  }
}

function nullWhenMissing(cause: unknown): null {
  if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null;
  rethrowAway(cause);
}

/** A full disk has an answer of its own (`isDiskFull`). With any other error of the file system, the storage fails. */
function rethrowAway(cause: unknown): never {
  const isOfSystem = (cause as NodeJS.ErrnoException).syscall !== undefined;
  throw isOfSystem && !isDiskFull(cause) ? new StorageAwayError(cause) : cause;
}

/** Whether there was a file. `rm` would also check, in the event loop, that the path is not a folder. */
async function removeFile(file: string): Promise<boolean> {
  try {
    await unlink(file);
    return true;
  } catch (cause) {
    return nullWhenMissing(cause) !== null;
  }
}

/** Removes old partial files as well, which killed processes have left. */
async function* listOlderThan(folder: string, ageMs: number): AsyncIterable<string[]> {
  let page: string[] = [];
  for await (const { name } of await opendir(folder)) {
    const file = path.join(folder, name);
    if (isKey(name) && (await isOlderThan(file, ageMs))) page.push(name);
    if (isPartial(name) && (await isOlderThan(file, PARTIAL_AGE_MS))) await removeFile(file);
    if (page.length === PAGE_FILES) {
      yield page;
      page = [];
    }
  }
  if (page.length > 0) yield page;
}

function isPartial(name: string): boolean {
  return name.startsWith(PARTIAL_PREFIX) && isKey(name.slice(PARTIAL_PREFIX.length));
}

/** False for a file that was deleted after it was listed. */
async function isOlderThan(file: string, ageMs: number): Promise<boolean> {
  const found = await stat(file).catch(() => null);
  return found !== null && Date.now() - found.mtimeMs > ageMs;
}

/** Free bytes for an unprivileged user on the disk of a folder. */
export async function freeBytesAt(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** A new file for reading and writing at the path, which is removed at once. */
export async function openScratchFile(file: string): Promise<FileHandle> {
  const handle = await openHandle(file, 'wx+', 0o600);
  await removeFile(file);
  return handle;
}

function pathOf(folder: string, key: string): string {
  assertKey(key);
  return path.join(folder, key);
}

/** @throws RangeError  when the text does not have the form of a key */
export function assertKey(key: string): void {
  if (!isKey(key)) throw new RangeError('not a key of the audio storage');
}

/** Whether a text has the form of a key. */
export function isKey(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);
}
