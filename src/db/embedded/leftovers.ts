import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

// A fast shutdown takes tens of ms, a checkpoint on a slow disk some seconds.
const INTERRUPT_TIMEOUT_MS = 15_000;
const KILL_TIMEOUT_MS = 5_000;
const POLL_MS = 5;

/**
 * Ends the processes of a cluster whose owner crashed, and removes its lock files. Requires the lock of the directory:
 * then any PostgreSQL in it is an orphan.
 * PostgreSQL removes stale lock files only if their process is gone; it takes a zombie (as in a container without an
 * init) for a running process.
 */
export async function clearLeftovers({ cluster, socket }: { cluster: string; socket: string }): Promise<void> {
  const pidFile = path.join(cluster, 'postmaster.pid');
  if (!fs.existsSync(pidFile)) return;
  const postmaster = Number(fs.readFileSync(pidFile, 'utf8').split('\n')[0]);
  const processes = () =>
    fs.existsSync('/proc/self/cwd') ? processesWorkingIn(cluster) : orphanByName(postmaster, cluster);

  if (processes().includes(postmaster)) signal([postmaster], 'SIGINT');
  // Backends end soon after their postmaster, but one that runs a statement may take longer. A second server would
  // corrupt the data, so the lock files stay until the last process has ended.
  if (!(await untilNone(processes, INTERRUPT_TIMEOUT_MS))) {
    signal(processes(), 'SIGKILL');
    if (!(await untilNone(processes, KILL_TIMEOUT_MS))) {
      throw new Error(`PostgreSQL processes of an earlier start do not end: kill -9 ${processes().join(' ')}`);
    }
  }
  fs.rmSync(pidFile, { force: true });
  for (const name of fs.readdirSync(socket)) {
    if (name.startsWith('.s.PGSQL.')) fs.rmSync(path.join(socket, name));
  }
}

/** Every process of PostgreSQL has the cluster as its working folder; a zombie has none. */
function processesWorkingIn(folder: string): number[] {
  const real = fs.realpathSync(folder);
  return fs
    .readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && workingFolder(name) === real)
    .map(Number);
}

function workingFolder(pid: string): string | null {
  try {
    return fs.readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    // It has ended, is a zombie, or belongs to another user.
    return null;
  }
}

/** Without /proc (macOS): only the postmaster, checked by its command line, since its pid may have been reused. */
function orphanByName(postmaster: number, cluster: string): number[] {
  try {
    const command = execFileSync('ps', ['-p', String(postmaster), '-o', 'stat=,command='], { encoding: 'utf8' });
    return command.includes(cluster) && !command.trim().startsWith('Z') ? [postmaster] : [];
  } catch {
    return [];
  }
}

async function untilNone(processes: () => number[], timeoutMs: number): Promise<boolean> {
  const deadlineMs = performance.now() + timeoutMs;
  while (processes().length > 0) {
    if (performance.now() > deadlineMs) return false;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return true;
}

function signal(pids: number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // It has ended.
    }
  }
}
