import { createWriteStream, existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Writable } from 'node:stream';
import { CommandError, UsageError } from '../../cli/exit.ts';
import { syncFolder } from '../platform/files/durable-names.ts';

const NAME = /^verbatim-\d{8}T\d{6}Z\.tar\.gz$/;

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
 * @param place  a file that does not exist, a folder, in which the file is named after the time, or `-`
 * @throws UsageError
 */
export function openBackupTarget(place: string, now: Date, stdout: Writable): BackupTarget {
  if (place === '-') return { stream: stdout, file: null, keep: () => undefined, discard: () => undefined };
  const file = isFolder(place) ? path.join(place, nameAt(now)) : place;
  if (existsSync(file)) throw new UsageError(`${file} exists already.`);
  const partial = `${file}.partial`;
  // Left by a backup that was killed.
  rmSync(partial, { force: true });
  return {
    stream: createWriteStream(partial, { mode: 0o600, flags: 'wx', flush: true }),
    file,
    keep() {
      renameSync(partial, file);
      syncFolder(path.dirname(file));
    },
    discard: () => rmSync(partial, { force: true }),
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

function nameAt(now: Date): string {
  return `verbatim-${now.toISOString().replace(/[-:]|\.\d+/g, '')}.tar.gz`;
}
