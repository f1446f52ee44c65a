import { createWriteStream, existsSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Writable } from 'node:stream';
import { CommandError, UsageError } from '../../cli/exit.ts';
import { claimDirectory, DirectoryTakenError } from '../db/embedded/folder-lock.ts';
import { syncFolder } from '../platform/files/durable-names.ts';

const NAME = /^verbatim-\d{8}T\d{6}Z\.tar\.gz$/;
const PARTIAL = '.partial';
// Releases before this one wrote a file with this ending, without a lock.
const ABANDONED_MS = 86_400_000;

/** Where a backup is written: a file that has its name only when it is whole, or standard output. */
export type BackupTarget = {
  stream: Writable;
  /** Null for standard output. */
  file: string | null;
  /** Gives the file its name. */
  keep(): void;
  /** Removes what was written. */
  discard(): void;
};

/**
 * Until it is whole, the file is in a folder beside its place, which is locked: what a backup that was killed has left
 * is removed by the next one.
 * @param place  a file that does not exist, a folder, in which the file is named after the time, or `-`
 * @throws UsageError
 * @throws CommandError  while another backup writes the same file
 */
export function openBackupTarget(place: string, now: Date, stdout: Writable): BackupTarget {
  if (place === '-') return { stream: stdout, file: null, keep: () => undefined, discard: () => undefined };
  const file = isFolder(place) ? path.join(place, nameAt(now)) : place;
  if (existsSync(file)) throw new UsageError(`${file} exists already.`);
  const folder = path.dirname(file);
  if (!existsSync(folder)) throw new UsageError(`The folder ${folder} does not exist. Make it, or name another place.`);
  if (!isFolder(folder)) throw new UsageError(`${folder} is no folder. Name another place.`);
  removeLeftovers(folder, now, path.basename(file));
  const partial = `${file}${PARTIAL}`;
  mkdirSync(partial, { recursive: true, mode: 0o700 });
  const lock = claim(partial);
  if (lock === 'taken') throw new CommandError(`Another backup writes ${file} now. Wait for its end.`);
  const content = path.join(partial, 'content');
  const remove = () => {
    rmSync(partial, { recursive: true, force: true });
    lock?.release();
  };
  return {
    stream: createWriteStream('', { fd: openSync(content, 'wx', 0o600), flush: true }),
    file,
    keep() {
      renameSync(content, file);
      syncFolder(folder);
      remove();
    },
    discard: remove,
  };
}

/** Deletes all backups of a folder but the newest ones. Returns their names. */
export function deleteOld(folder: string, keep: number): string[] {
  if (!isFolder(folder)) throw new CommandError('--keep needs a folder, in which backups are named after their time.');
  const old = readdirSync(folder)
    .filter((name) => NAME.test(name))
    .sort()
    .slice(0, -keep);
  for (const name of old) rmSync(path.join(folder, name));
  return old;
}

/** Whether a path is that of a folder. */
export function isFolder(place: string): boolean {
  return statSync(place, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Removes what killed backups have left, of the same name or of names that this command gives. */
function removeLeftovers(folder: string, now: Date, own: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const name = entry.name.slice(0, -PARTIAL.length);
    if (!entry.name.endsWith(PARTIAL) || !(name === own || NAME.test(name))) continue;
    const leftover = path.join(folder, entry.name);
    if (entry.isDirectory()) removeUnlocked(leftover);
    else if (now.getTime() - statSync(leftover).mtimeMs > ABANDONED_MS) rmSync(leftover);
  }
}

function removeUnlocked(partial: string): void {
  const lock = claim(partial);
  // Without locks, it is not known whether somebody writes there.
  if (lock === 'taken' || lock === null) return;
  rmSync(partial, { recursive: true, force: true });
  lock.release();
}

/** Null where the file system has no locks. */
function claim(partial: string): { release(): void } | 'taken' | null {
  try {
    return claimDirectory(partial);
  } catch (error) {
    return error instanceof DirectoryTakenError ? 'taken' : null;
  }
}

function nameAt(now: Date): string {
  return `verbatim-${now.toISOString().replace(/[-:]|\.\d+/g, '')}.tar.gz`;
}
