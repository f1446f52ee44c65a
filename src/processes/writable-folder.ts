import { chmodSync, existsSync, rmSync, type Stats, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { makeDurableFolder } from '../platform/files/durable-names.ts';

/** The service cannot write to DATA_DIR; the message says whose folder it is and what to do. */
export class FolderError extends Error {
  constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.name = 'FolderError';
  }
}

// A full disk is not in the list: the service starts on it and waits for space.
const REFUSALS = ['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST'];

/**
 * Creates the folder (0700) if there is none, and tests that this process can write to it. The mode of a folder that
 * belongs to another user stays: a volume of Kubernetes belongs to root and is writable for the group of the process.
 * @throws FolderError  when it cannot be created, or not be written to
 */
export function openWritableFolder(folder: string): void {
  try {
    makeDurableFolder(folder);
    if (isOurs(statSync(folder))) chmodSync(folder, 0o700);
    writeTestFile(folder);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!REFUSALS.includes(code)) throw error;
    throw new FolderError(whyRefused(folder, code), error);
  }
}

function isOurs({ uid }: Stats): boolean {
  const user = process.geteuid?.();
  return user === undefined || user === 0 || user === uid;
}

/** An empty file needs no space, but an entry in the folder, so a full disk may refuse it. */
function writeTestFile(folder: string): void {
  const file = path.join(folder, `.write-test-${process.pid}`);
  try {
    writeFileSync(file, '');
    rmSync(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOSPC' && code !== 'EDQUOT') throw error;
  }
}

function whyRefused(folder: string, code: string): string {
  const found = nearest(folder);
  const { uid, gid, mode, isFolder } = describe(found);
  if (!isFolder) return `DATA_DIR is ${folder}, and ${found} is not a folder. Set DATA_DIR to a folder.`;
  if (code === 'EROFS')
    return `Folder ${folder} is on a read-only file system. Mount a volume there, or set DATA_DIR to a folder that can be written to.`;
  const user = `${process.geteuid?.()}:${process.getegid?.()}`;
  const owner = `Folder ${found} belongs to ${uid}:${gid}, mode ${mode}; Verbatim runs as ${user}`;
  if (found !== folder) return `${owner} and cannot create ${folder} in it. Create it, then: chown ${user} ${folder}`;
  return `${owner} and cannot write to it. Type: chown -R ${user} ${folder}, or use a named volume.`;
}

/** The folder, or the nearest one above it that exists. */
function nearest(folder: string): string {
  const absolute = path.resolve(folder);
  return existsSync(absolute) || path.dirname(absolute) === absolute ? absolute : nearest(path.dirname(absolute));
}

function describe(file: string): { uid: number; gid: number; mode: string; isFolder: boolean } {
  const stats = statSync(file);
  const { uid, gid } = stats;
  return { uid, gid, mode: (stats.mode & 0o7777).toString(8), isFolder: stats.isDirectory() };
}
