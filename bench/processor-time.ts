import { readdirSync, readFileSync } from 'node:fs';

// Fixed at 100 on every Linux that Node runs on.
const TICKS_PER_SECOND = 100;

/** Processor time that a process has used, its own and that of children it has reaped; in µs, to the nearest 10 ms. */
export function processorUs(pid: number): number {
  const fields = statFields(pid);
  if (!fields) return 0;
  const [user, system, childrenUser, childrenSystem] = fields.slice(11, 15).map(Number);
  return ((user! + system! + childrenUser! + childrenSystem!) / TICKS_PER_SECOND) * 1e6;
}

/** The same of a process and the children it has now: PostgreSQL works in one process per connection. */
export function processorUsOfFamily(pid: number): number {
  return [pid, ...childrenOf(pid)].reduce((sum, one) => sum + processorUs(one), 0);
}

export function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(statFields(Number(name))?.[1]) === pid)
    .map(Number);
}

/** What stands behind the command in /proc/<pid>/stat: state, parent, …; null when the process is gone. */
function statFields(pid: number): string[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}
