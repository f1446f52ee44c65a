import { execFileSync } from 'node:child_process';

const CHECK_EVERY_MS = 1_000;

/**
 * Kills the files of a test run that take longer than this, and names them. The runner ends a file that is too slow
 * with SIGTERM, which has no effect on one that handles the signal and hangs in a loop or while it is loaded.
 * @param runnerPid  of `node --test`, which starts a process for each file
 */
export function killStuckFiles(runnerPid: number, afterMs: number): Disposable {
  let firstSeenMs = new Map<string, number>();
  const timer = setInterval(() => {
    const nowMs = performance.now();
    const files = filesUnder(runnerPid).map((entry) => ({ ...entry, key: `${entry.pid} ${entry.file}` }));
    // Ids of processes come again: those that have ended are forgotten.
    firstSeenMs = new Map(files.map(({ key }) => [key, firstSeenMs.get(key) ?? nowMs]));
    for (const { pid, file, key } of files) {
      if (nowMs - firstSeenMs.get(key)! < afterMs) continue;
      process.stderr.write(`✖ ${file} hangs: it was killed after ${Math.round(afterMs / 1000)} s\n`);
      kill(pid);
    }
  }, CHECK_EVERY_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

function filesUnder(runnerPid: number): { pid: number; file: string }[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n');
  return lines.flatMap((line) => {
    const [pid, parent, ...words] = line.trim().split(/\s+/);
    const file = words.find((word) => word.endsWith('.test.ts'));
    return Number(parent) === runnerPid && file !== undefined ? [{ pid: Number(pid), file }] : [];
  });
}

/** It may have ended meanwhile. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {}
}
