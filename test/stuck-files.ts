import { existsSync } from 'node:fs';
import { machineTime } from './fixtures/machine-time.ts';
import { descendantsOf } from './fixtures/processes/process-list.ts';

// Reading /proc takes 10 ms of processor time while tests run.
const CHECK_EVERY_MS = 10_000;

/**
 * Kills the files of a test run that take longer than this, and names them: also one that handles SIGTERM and hangs in
 * a loop, or while it is loaded. Linux only: elsewhere it does nothing.
 * @param runnerPid  of `node --test`, which starts a process for each file
 * @param afterMs  by the clock of `machineTime`
 */
export function killStuckFiles(runnerPid: number, afterMs: number): Disposable {
  if (!existsSync('/proc')) return { [Symbol.dispose]: () => undefined };
  const elapsedMs = machineTime();
  let firstSeenMs = new Map<string, number>();
  const timer = setInterval(
    () => {
      const nowMs = elapsedMs();
      const files = filesUnder(runnerPid).map((entry) => ({ ...entry, key: `${entry.pid} ${entry.file}` }));
      // Ids of processes come again: those that have ended are forgotten.
      firstSeenMs = new Map(files.map(({ key }) => [key, firstSeenMs.get(key) ?? nowMs]));
      for (const { pid, file, key } of files) {
        if (nowMs - firstSeenMs.get(key)! < afterMs) continue;
        const seconds = Math.round(afterMs / 1000);
        process.stderr.write(`${file} hangs: it was killed after ${seconds} s of processor time\n`);
        kill(pid);
      }
    },
    Math.min(CHECK_EVERY_MS, afterMs),
  );
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

function filesUnder(runnerPid: number): { pid: number; file: string }[] {
  return descendantsOf(runnerPid).flatMap(({ pid, parent, arguments: words }) => {
    const file = words.find((word) => /\.test\.m?[jt]s$/.test(word));
    return parent === runnerPid && file !== undefined ? [{ pid, file }] : [];
  });
}

/** It may have ended meanwhile. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {}
}
