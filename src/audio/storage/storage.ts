import { randomUUID } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { mkdir, open, opendir, rename, rm, stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import { ApiError } from '../../http/api-error.ts';

/** Uploaded audio by key. Keys are made here; nothing that a client says ever becomes part of a path. */
export type AudioStorage = {
  /**
   * Writes the bytes as they come; when it resolves they survive a power cut.
   * Whatever goes wrong, nothing of an upload that was not received whole stays.
   * @throws UploadTooLargeError
   */
  receive(bytes: AsyncIterable<Uint8Array>, limits: { maxBytes: number }): Promise<{ key: string; sizeBytes: number }>;
  /** A file that a decoder can open, until disposed. Of a key that is gone there is no file at the path. */
  localPath(key: string): Promise<{ path: string } & AsyncDisposable>;
  /** Erases; a key that is gone already is no error. */
  remove(key: string): Promise<void>;
  /** Keys last written to more than `ageMs` ago, of jobs or not; a page at a time, since there may be millions. */
  listOlderThan(ageMs: number): AsyncIterable<string[]>;
  /** What is free of the disk of this node that uploads, or their copies for the decoder, are written to. */
  freeBytes(): Promise<number>;
};

/** A storage as the service opens it: it may be another machine's. */
export type SharedStorage = AudioStorage & {
  /** The name of the error that every use of it meets now, or null. */
  whyAway(): Promise<string | null>;
};

export class UploadTooLargeError extends Error {
  constructor(maxBytes: number) {
    super(`The file is larger than ${maxBytes} bytes.`);
    this.name = 'UploadTooLargeError';
  }
}

/** The storage cannot be reached or refuses us: nothing is wrong with the audio, the caller may try again. */
export class StorageAwayError extends ApiError {
  constructor(cause: unknown) {
    super('unavailable', 'The audio storage cannot be reached now. Try again later.', {
      headers: { 'retry-after': '5' },
      cause,
    });
    this.name = 'StorageAwayError';
  }
}

// As many as S3 lists at once.
const PAGE_FILES = 1000;
const PARTIAL_PREFIX = 'partial-';
// An upload under way brings 16 KiB every 30 s, or is ended.
const PARTIAL_AGE_MS = 300_000;

/** Keeps audio as files, one per key, in a folder that only this user can read (made when missing). */
export async function openFileStorage(folder: string): Promise<AudioStorage> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return {
    receive: (bytes, { maxBytes }) => receive(folder, bytes, maxBytes),
    localPath: async (key) => ({ path: pathOf(folder, key), [Symbol.asyncDispose]: async () => undefined }),
    remove: (key) => rm(pathOf(folder, key), { force: true }),
    listOlderThan: (ageMs) => listOlderThan(folder, ageMs),
    freeBytes: () => freeBytesAt(folder),
  };
}

async function receive(folder: string, bytes: AsyncIterable<Uint8Array>, maxBytes: number) {
  const key = randomUUID();
  // It gets its own name once it is whole: what a killed process left is told from what waits for its job.
  const file = path.join(folder, PARTIAL_PREFIX + key);
  const handle = await open(file, 'wx', 0o600);
  try {
    const sizeBytes = await writeAll(handle, bytes, maxBytes);
    await handle.sync();
    await handle.close();
    await rename(file, pathOf(folder, key));
    await syncFolder(folder);
    return { key, sizeBytes };
  } catch (cause) {
    await handle.close().catch(() => undefined);
    for (const name of [file, pathOf(folder, key)]) await rm(name, { force: true }).catch(() => undefined);
    throw cause;
  }
}

/** One chunk at a time: a slow disk slows the sender down, memory does not grow. */
async function writeAll(handle: FileHandle, bytes: AsyncIterable<Uint8Array>, maxBytes: number): Promise<number> {
  let sizeBytes = 0;
  for await (const chunk of bytes) {
    sizeBytes += chunk.length;
    if (sizeBytes > maxBytes) throw new UploadTooLargeError(maxBytes);
    for (let offset = 0; offset < chunk.length; ) offset += (await handle.write(chunk, offset)).bytesWritten;
  }
  return sizeBytes;
}

/** A new file's name is durable only once its folder is. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Removes partial files as well: a process that was killed could not. */
async function* listOlderThan(folder: string, ageMs: number): AsyncIterable<string[]> {
  let page: string[] = [];
  for await (const { name } of await opendir(folder)) {
    const file = path.join(folder, name);
    if (isKey(name) && (await isOlderThan(file, ageMs))) page.push(name);
    if (isPartial(name) && (await isOlderThan(file, PARTIAL_AGE_MS))) await rm(file, { force: true });
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

/** False for a file that is gone since it was listed. */
async function isOlderThan(file: string, ageMs: number): Promise<boolean> {
  const found = await stat(file).catch(() => null);
  return found !== null && Date.now() - found.mtimeMs > ageMs;
}

/** What a user without special rights can still write to the disk of a folder. */
export async function freeBytesAt(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

function pathOf(folder: string, key: string): string {
  assertKey(key);
  return path.join(folder, key);
}

/** @throws RangeError  when the key was not made by a storage */
export function assertKey(key: string): void {
  if (!isKey(key)) throw new RangeError('not a key of the audio storage');
}

/** Whether a name in the storage is one that was made here. */
export function isKey(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);
}
