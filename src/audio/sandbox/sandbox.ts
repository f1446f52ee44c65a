import { once } from 'node:events';
import { findProgram, type ToolPaths } from '../../platform/tools.ts';
import { canLimitProcesses, type Sandboxed, type SandboxKind, spawnSandboxed } from './sandbox-process.ts';
import { systemCallFilter } from './system-call-filter.ts';

/** Sandbox capabilities: what a sandbox can isolate a decoder from. */
export const PROTECTIONS = ['files', 'network', 'processes', 'ipc', 'capabilities', 'system_calls', 'limits'] as const;
export type Protection = (typeof PROTECTIONS)[number];

/** How decoders are isolated on this machine; plain data, which the parent sends to its processes. */
export type Sandbox = {
  kind: SandboxKind;
  missing: Protection[];
  /** Why bubblewrap does not work here, for the operator; null when it does. */
  reason: string | null;
};

/** From the strongest to the weakest; `missing` are the protections that each kind lacks. */
const KINDS: { kind: SandboxKind; missing: Protection[] }[] = [
  { kind: 'bubblewrap', missing: [] },
  { kind: 'namespaces', missing: ['files', 'system_calls'] },
  { kind: 'process', missing: ['files', 'network', 'processes', 'ipc', 'system_calls'] },
  { kind: 'limits', missing: ['files', 'network', 'processes', 'ipc', 'capabilities', 'system_calls'] },
];
const CHECK_TIMEOUT_MS = 10_000;
const CHECK_LIMITS = { memoryMaxBytes: 2 ** 30, cpuMaxSeconds: 10 };

let ofThisProcess: Promise<Sandbox> | null = null;

/** Sets the sandbox of this process: the one that the parent found and logged. */
export function useSandbox(sandbox: Sandbox): void {
  ofThisProcess = Promise.resolve(sandbox);
}

/** The sandbox of this process. It is detected once, because each check takes some ms. */
export function sandboxOfThisProcess(tools: ToolPaths): Promise<Sandbox> {
  return (ofThisProcess ??= findSandbox(tools));
}

/** The strongest kind of sandbox that works here. Each kind is tested with `prlimit --version`. */
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

/** Why this kind of sandbox does not work here; null when it works. */
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
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdout.resume();
  try {
    const [{ code }] = await Promise.all([ended, once(child, 'close')]);
    return code === 0 ? null : `${kind}: ${stderr.trim() || 'the program was killed'}`;
  } catch (error) {
    return `${kind}: ${stderr.trim() || (error as Error).message}`;
  } finally {
    clearTimeout(timer);
  }
}
