import fs from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Another living process has the directory open. */
export class DirectoryTakenError extends Error {
  constructor(dir: string, pid: string) {
    super(`${dir} is in use by process ${pid}. Stop that process first (kill ${pid}), or choose another DATA_DIR.`);
    this.name = 'DirectoryTakenError';
  }
}

/**
 * Takes `dir` for this process until `release`, or until the process dies, however it dies.
 * The lock is the kernel's, on a file, by way of SQLite, because Node cannot lock files by itself: a pid in a file would
 * lie after a kill -9, and in a container, where pids start anew.
 * @throws DirectoryTakenError
 */
export function claimDirectory(dir: string): { release(): void } {
  const pidFile = path.join(dir, 'owner.pid');
  const lock = new DatabaseSync(path.join(dir, 'lock'));
  try {
    lock.exec('pragma journal_mode = memory; begin exclusive');
  } catch (cause) {
    lock.close();
    if ((cause as { errcode?: number }).errcode !== SQLITE_BUSY) throw cause;
    throw new DirectoryTakenError(dir, readPid(pidFile));
  }
  writePid(pidFile);
  let isHeld = true;
  return {
    release() {
      if (isHeld) lock.close();
      isHeld = false;
    },
  };
}

const SQLITE_BUSY = 5;

/** For the message above only: a full disk, on which it cannot be written, must not keep the directory from its owner. */
function writePid(pidFile: string): void {
  try {
    fs.writeFileSync(pidFile, `${process.pid}\n`);
  } catch {
    // Then the message names no process.
  }
}

function readPid(pidFile: string): string {
  try {
    return fs.readFileSync(pidFile, 'utf8').trim();
  } catch {
    return 'unknown';
  }
}
