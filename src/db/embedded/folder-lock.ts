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
 * Locks `dir` for this process until `release`, or until the process ends, also by a crash.
 * It is a file lock of the kernel, taken by SQLite because Node has no file locks. A pid in a file would be wrong after
 * a kill -9, and in a container, where pids start again from 1.
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

/** For the message above only: on a full disk it cannot be written, and the start goes on. */
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
