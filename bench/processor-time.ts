import { readdirSync, readFileSync } from 'node:fs';

// Fixed at 100 on every Linux that Node runs on.
const TICKS_PER_SECOND = 100;

/** Processor time that a process has used, its own and that of children it has reaped; in µs, to the nearest 10 ms. */
export function processorUs(pid: number): number {
  return ownProcessorUs(pid) + reapedProcessorUs(pid);
}

/** Processor time of the process alone. */
export function ownProcessorUs(pid: number): number {
  return usOfFields(pid, 11);
}

/** Processor time of its children that have ended, with theirs. */
export function reapedProcessorUs(pid: number): number {
  return usOfFields(pid, 13);
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

/** Of two fields of /proc/<pid>/stat, for user and system time. */
function usOfFields(pid: number, first: number): number {
  const [user = 0, system = 0] = (statFields(pid) ?? []).slice(first, first + 2).map(Number);
  return ((user + system) / TICKS_PER_SECOND) * 1e6;
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
