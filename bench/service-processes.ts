import { readFileSync } from 'node:fs';
import { childrenOf } from './processor-time.ts';

/** Kinds of processes by their command lines, which include that of a sandbox around them. */
const KINDS: [name: string, pattern: RegExp][] = [
  ['voice detector', /\bvad-child\b/],
  ['model', /\b(?:sherpa|sherpa-live|speakers)-child\b/],
  ['http', /\brole-process\.\S+\s.*\bhttp\b/],
  ['transcriber', /\brole-process\.\S+\s.*\btranscriber\b/],
  ['deliverer', /\brole-process\.\S+\s.*\bdeliverer\b/],
  ['PostgreSQL', /\bpostgres\b/],
  ['parent', /\bmain\.[jt]s\b/],
];

export type ServiceProcess = { pid: number; kind: string };

/** The processes of a service that run now. @param pid  of its parent */
export function serviceProcesses(pid: number): ServiceProcess[] {
  const kind = kindOf(pid);
  const own = kind === null ? [] : [{ pid, kind }];
  return [...own, ...childrenOf(pid).flatMap(serviceProcesses)];
}

/** Null when it has just ended. */
function kindOf(pid: number): string | null {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    return KINDS.find(([, pattern]) => pattern.test(command))?.[0] ?? 'others';
  } catch {
    return null;
  }
}
