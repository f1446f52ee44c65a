import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

// A fast shutdown takes tens of ms, a checkpoint on a slow disk some seconds.
const INTERRUPT_TIMEOUT_MS = 15_000;
const KILL_TIMEOUT_MS = 5_000;
const POLL_MS = 5;

/**
 * Ends what still runs in a cluster whose owner died, and removes its locks. Call it with the directory claimed: then
 * any PostgreSQL in there is an orphan.
 * PostgreSQL clears its own stale locks only when their process is gone; a dead one that nobody reaped (a zombie, as in
 * a container without an init) still counts as alive for it.
 */
export async function clearLeftovers({ cluster, socket }: { cluster: string; socket: string }): Promise<void> {
  const pidFile = path.join(cluster, 'postmaster.pid');
  if (!fs.existsSync(pidFile)) return;
  const postmaster = Number(fs.readFileSync(pidFile, 'utf8').split('\n')[0]);
  const processes = () =>
    fs.existsSync('/proc/self/cwd') ? processesWorkingIn(cluster) : orphanByName(postmaster, cluster);

  if (processes().includes(postmaster)) signal([postmaster], 'SIGINT');
  // Backends whose postmaster died see that within moments, but one in the midst of a statement may take longer. A new
  // server beside it would corrupt the data, so the locks stay until the last one is gone.
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

/** Every process of PostgreSQL works in its cluster's folder. A zombie has no folder any more. */
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
    // Ended meanwhile, a zombie, or another user's.
    return null;
  }
}

/** Where there is no /proc (macOS): the postmaster alone, known by its command line, since its pid may be another's by now. */
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
      // Ended meanwhile.
    }
  }
}
