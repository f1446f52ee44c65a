import { execFile, execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

/** A way to mount a small disk that only the command run in it sees: its words before `<size> <folder> <command…>`. */
export type SmallDiskWay = readonly string[];

const MOUNT = 'mount -t tmpfs -o size="$0",mode=0700 small-disk "$1" && shift';
const TIMEOUT_MS = 150_000;

/**
 * How to mount a disk here; null where the system allows none. Root does it in mounts of its own; anybody else as the
 * root of a user namespace, and in a second one as a plain user again, because PostgreSQL does not run as root.
 */
export function smallDiskWay(): SmallDiskWay | null {
  const plainUser = 'unshare --user --map-user=1000 --map-group=1000';
  const ways = [
    ['unshare', '--mount', 'sh', '-c', `${MOUNT} && exec "$@"`],
    ['unshare', '--map-root-user', '--mount', 'sh', '-c', `${MOUNT} && exec ${plainUser} "$@"`],
  ];
  return ways.find(works) ?? null;
}

function works([program, ...args]: SmallDiskWay): boolean {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'disk-'));
  try {
    execFileSync(program!, [...args, '1m', folder, 'touch', path.join(folder, 'file')], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs a script of this folder with a disk of `size` mounted at `folder`; what it says as JSON on standard output. */
export async function runOnSmallDisk(
  [program, ...way]: SmallDiskWay,
  { size, folder, script, args }: { size: string; folder: string; script: string; args: string[] },
): Promise<unknown> {
  mkdirSync(folder, { recursive: true });
  const command = [process.execPath, path.join(import.meta.dirname, script), ...args];
  const options = { maxBuffer: 2 ** 26, timeout: TIMEOUT_MS };
  const { stdout } = await promisify(execFile)(program!, [...way, size, folder, ...command], options);
  return JSON.parse(stdout);
}

/** Writes to `file` until its disk has no byte left. */
export function fillDisk(file: string): void {
  const descriptor = openSync(file, 'a');
  let chunk = Buffer.alloc(2 ** 20);
  try {
    while (chunk.length > 0) {
      try {
        writeSync(descriptor, chunk);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
        chunk = chunk.subarray(0, Math.floor(chunk.length / 2));
      }
    }
  } finally {
    closeSync(descriptor);
  }
}
