import { readdirSync, readFileSync } from 'node:fs';

/** One process as /proc shows it. Linux only, as the tests that need it. */
export type ProcessEntry = { pid: number; parent: number; state: string; arguments: string[] };

/** Every live process below this one, itself left out; zombies are gone in all but name and are not listed. */
export function descendantsOf(pid: number): ProcessEntry[] {
  const all = listProcesses();
  const found: ProcessEntry[] = [];
  const parents = [pid];
  for (let parent = parents.pop(); parent !== undefined; parent = parents.pop()) {
    const children = all.filter((entry) => entry.parent === parent && entry.state !== 'Z');
    found.push(...children);
    parents.push(...children.map((child) => child.pid));
  }
  return found;
}

/** Whether a process still runs; a zombie does not. */
export function isAlive(pid: number): boolean {
  const entry = readProcess(pid);
  return entry !== null && entry.state !== 'Z';
}

function listProcesses(): ProcessEntry[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readProcess(Number(name)))
    .filter((entry) => entry !== null);
}

function readProcess(pid: number): ProcessEntry | null {
  try {
    const match = /^\d+ \(.*\) (\S) (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    const commandLine = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return match ? { pid, parent: Number(match[2]), state: match[1]!, arguments: commandLine } : null;
  } catch {
    // It ended between the listing and the look at it.
    return null;
  }
}
