import { once } from 'node:events';
import type { ToolPaths } from '../../platform/tools.ts';
import { findProgram } from '../../platform/tools.ts';
import type { Sandboxed, SandboxKind } from './sandbox-process.ts';
import { canLimitProcesses, spawnSandboxed } from './sandbox-process.ts';
import { systemCallFilter } from './system-call-filter.ts';

/** What a decoder is kept from. */
export const PROTECTIONS = ['files', 'network', 'processes', 'ipc', 'capabilities', 'system_calls', 'limits'] as const;
export type Protection = (typeof PROTECTIONS)[number];

/** How decoders are isolated on this machine; plain data, so that the parent can hand it to its processes. */
export type Sandbox = {
  kind: SandboxKind;
  missing: Protection[];
  /** Why it is not bubblewrap, for the operator; null where it is. */
  reason: string | null;
};

/** From the best to the least; `missing` is what each kind cannot do. */
const KINDS: { kind: SandboxKind; missing: Protection[] }[] = [
  { kind: 'bubblewrap', missing: [] },
  { kind: 'namespaces', missing: ['files', 'system_calls'] },
  { kind: 'process', missing: ['files', 'network', 'processes', 'ipc', 'system_calls'] },
];
const CHECK_TIMEOUT_MS = 10_000;
const CHECK_LIMITS = { memoryMaxBytes: 2 ** 30, cpuMaxSeconds: 10 };

let ofThisProcess: Promise<Sandbox> | null = null;

/** From now on this process runs decoders in `sandbox`: the one that the parent found and wrote to the log. */
export function useSandbox(sandbox: Sandbox): void {
  ofThisProcess = Promise.resolve(sandbox);
}

/** The sandbox of this process. Looked for once: each check costs some ms, and none changes while we run. */
export function sandboxOfThisProcess(tools: ToolPaths): Promise<Sandbox> {
  return (ofThisProcess ??= findSandbox(tools));
}

/** The best sandbox that works here. Each kind is tried with a program that does nothing. */
export async function findSandbox(tools: ToolPaths): Promise<Sandbox> {
  let reason: string | null = null;
  for (const { kind, missing } of KINDS) {
    const problem = await whyNot(kind, tools);
    if (problem === null) return { kind, missing: [...missing, ...missingHere(kind)], reason };
    reason ??= problem;
  }
  return { kind: 'none', missing: [...PROTECTIONS], reason };
}

function missingHere(kind: SandboxKind): Protection[] {
  const hasNoFilter = kind === 'bubblewrap' && systemCallFilter() === null;
  return [...(hasNoFilter ? ['system_calls' as const] : []), ...(canLimitProcesses(kind) ? [] : ['limits' as const])];
}

/** Why a program cannot be run in a sandbox of this kind; null when it can. */
async function whyNot(kind: SandboxKind, tools: ToolPaths): Promise<string | null> {
  const program = findProgram(tools, 'prlimit');
  if (program === null) return 'prlimit (util-linux) is not installed';
  let sandboxed: Sandboxed;
  try {
    sandboxed = spawnSandboxed(kind, { tools, program, args: ['--version'], limits: CHECK_LIMITS, input: null });
  } catch (error) {
    return (error as Error).message;
  }
  const { child, ended } = sandboxed;
  const timer = setTimeout(() => child.kill('SIGKILL'), CHECK_TIMEOUT_MS);
  let lastWords = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (lastWords += text));
  child.stdout.resume();
  try {
    const [{ code }] = await Promise.all([ended, once(child, 'close')]);
    return code === 0 ? null : `${kind}: ${lastWords.trim() || 'it was ended'}`;
  } catch (error) {
    return `${kind}: ${lastWords.trim() || (error as Error).message}`;
  } finally {
    clearTimeout(timer);
  }
}
