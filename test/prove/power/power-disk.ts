import { type ChildProcess, execFileSync, fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '../../fixtures/service.ts';
import { until } from '../../fixtures/until.ts';

/** How each file system is made, and mounted so that it writes as late as it may. */
const OPTIONS = {
  ext4: { make: ['mkfs.ext4', '-q', '-F', '-E', 'nodiscard'], mount: 'commit=300,noauto_da_alloc' },
  btrfs: { make: ['mkfs.btrfs', '-q', '-f', '-K'], mount: 'commit=300,nodiscard' },
} as const;
export type FileSystem = keyof typeof OPTIONS;
export const FILE_SYSTEMS = Object.keys(OPTIONS) as FileSystem[];

const SIZE_BYTES = 2 ** 30;
const UNMOUNT_MS = 120_000;

/** A folder on a file system of its own, on a disk whose power can be cut. */
export type PowerDisk = AsyncDisposable & {
  folder: string;
  /** Loses what was not flushed, and from now on all that is written. */
  cut(seed: number): Promise<void>;
  /** Mounts the disk anew, once no process has a file on it. */
  restore(): Promise<void>;
};

/** What this machine lacks for power cuts on the file system; empty where it lacks nothing. */
export function lackingFor(fileSystem: FileSystem): string[] {
  const [maker] = OPTIONS[fileSystem].make;
  const hasProgram = (name: string) => !spawnSync(name, ['--help']).error;
  return [
    ...(process.getuid?.() === 0 ? [] : ['root']),
    ...['/dev/fuse', '/dev/loop-control'].filter((file) => !existsSync(file)),
    ...[maker, 'losetup', 'mount'].filter((program) => !hasProgram(program)),
  ];
}

export async function openPowerDisk(fileSystem: FileSystem): Promise<PowerDisk> {
  const home = temporaryFolder();
  const [file, folder] = [path.join(home, 'disk'), path.join(home, 'mounted')];
  writeFileSync(file, '');
  mkdirSync(folder);
  // PostgreSQL has a user of its own.
  chmodSync(home, 0o711);
  const disk = fork(new URL('cut-disk.ts', import.meta.url), [file, String(SIZE_BYTES)]);
  await until('the disk', () => readFileSync('/proc/mounts', 'utf8').includes(` ${file} fuse`));
  const { make, mount } = OPTIONS[fileSystem];
  const attach = () => run('losetup', '--find', '--show', file);
  const mountAt = (loop: string) => run('mount', '-t', fileSystem, '-o', mount, loop, folder);
  let loop = attach();
  run(make[0], ...make.slice(1), loop);
  mountAt(loop);
  const detach = async () => {
    // A process that was killed may still be closing its files.
    await until('the unmounting', () => spawnSync('umount', [folder]).status === 0, UNMOUNT_MS);
    run('losetup', '--detach', loop);
  };
  return {
    folder,
    cut: (seed) => tell(disk, { cut: seed }),
    async restore() {
      await detach();
      await tell(disk, { revive: true });
      loop = attach();
      mountAt(loop);
    },
    async [Symbol.asyncDispose]() {
      await detach();
      run('umount', file);
      disk.disconnect();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

async function tell(disk: ChildProcess, message: object): Promise<void> {
  const done = once(disk, 'message');
  disk.send(message);
  await done;
}

function run(program: string, ...args: string[]): string {
  return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}
