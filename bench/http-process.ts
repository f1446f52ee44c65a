import { readFileSync } from 'node:fs';
import { childrenOf } from './processor-time.ts';

/** The process of a service that answers requests. @param pid  of the service */
export function httpProcessOf(pid: number): number {
  const children = childrenOf(pid);
  return children.find((one) => /\bhttp\b/.test(readFileSync(`/proc/${one}/cmdline`, 'utf8'))) ?? pid;
}
