import type { ChildProcessByStdio } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import os from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { ToolPaths } from '../../platform/tools.ts';
import { findProgram, toolEnvironment } from '../../platform/tools.ts';
import { rootArguments } from './sandbox-root.ts';
import { systemCallFilter } from './system-call-filter.ts';

/** bubblewrap: all protections. namespaces: unshare of util-linux. process: limits, and as root another user. */
export type SandboxKind = 'bubblewrap' | 'namespaces' | 'process' | 'none';

export type SandboxOrder = {
  tools: ToolPaths;
  /** Path of the program. */
  program: string;
  args: string[];
  limits: { memoryMaxBytes: number; cpuMaxSeconds: number };
  /** The file that the program may read, by our name and opened; it sees it as INPUT_PATH. */
  input: { path: string; descriptor: number } | null;
};

/** `code` is null when a signal ended the program, be it inside of the sandbox. */
export type SandboxExit = { code: number | null; signal: NodeJS.Signals | null };
export type Sandboxed = {
  child: ChildProcessByStdio<null, Readable, Readable>;
  /** @throws Error  when the sandbox could not be set up, or the program not be started in it */
  ended: Promise<SandboxExit>;
};

/** Threads count too: ffmpeg has about one for each part of its pipeline. */
const PROCESSES_MAX = 48;
const OPEN_FILES_MAX = 64;
/**
 * As root each sandbox is a user of its own, who owns nothing: the limit of processes counts by user. Debian keeps these
 * numbers unused. Not `nobody`, whose are the files of the embedded PostgreSQL.
 */
const USERS = { first: 65_000, count: 256 };
let nextUser = 0;
/** Descriptors of bubblewrap's own: it says there how the program ended, and reads there what the program may not call. */
const STATUS = 3;
const FILTER = 4;
/** What prlimit and setpriv end with when they cannot start the program. */
const NOT_STARTED = [126, 127];

/**
 * Starts a program in a sandbox of the kind given, with none of our environment or open files, in a process group of its
 * own, so that one signal ends it with whatever it started. It dies with us.
 * @throws Error  naming the tool that is missing
 */
export function spawnSandboxed(kind: SandboxKind, order: SandboxOrder): Sandboxed {
  const [command, ...args] = commandOf(kind, order);
  const filter = kind === 'bubblewrap' ? systemCallFilter() : null;
  const child = spawn(command!, args, {
    stdio: [
      kind === 'bubblewrap' ? 'ignore' : (order.input?.descriptor ?? 'ignore'),
      'pipe',
      'pipe',
      ...(kind === 'bubblewrap' ? (['pipe'] as const) : []),
      ...(filter ? (['pipe'] as const) : []),
    ],
    detached: true,
    cwd: '/',
    env: toolEnvironment(order.tools),
  }) as unknown as Sandboxed['child'];
  if (filter !== null) {
    const pipe = child.stdio[FILTER] as unknown as Writable;
    // It may have ended already; its exit tells why.
    pipe.on('error', () => undefined).end(filter);
  }
  const ended = untilEnded(child, kind);
  // Whoever awaits it learns of a failure; nobody has to.
  ended.catch(() => undefined);
  return { child, ended };
}

async function untilEnded(child: Sandboxed['child'], kind: SandboxKind): Promise<SandboxExit> {
  const status = kind === 'bubblewrap' ? text(child.stdio[STATUS] as unknown as Readable).catch(() => '') : '';
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  if (code === null) return { code, signal };
  // bubblewrap names the exit code of the program, if it came to that; its own failures end with 1 as ffmpeg's do.
  const isSetUp = kind !== 'bubblewrap' || (await status).includes('"exit-code"');
  if (!isSetUp || NOT_STARTED.includes(code)) throw new Error(`The sandbox (${kind}) could not be set up.`);
  const inner = signalOf(code);
  return inner === null ? { code, signal } : { code: null, signal: inner };
}

/** As a shell says it, bubblewrap ends with 128 and the number of the signal that ended the program. */
function signalOf(code: number): NodeJS.Signals | null {
  const found = Object.entries(os.constants.signals).find(([, number]) => 128 + number === code);
  return (found?.[0] as NodeJS.Signals | undefined) ?? null;
}

function commandOf(kind: SandboxKind, { tools, program, args, limits, input }: SandboxOrder): string[] {
  if (kind === 'none') return [program, ...args];
  const needed = (name: string, from = 'util-linux') => {
    const found = findProgram(tools, name);
    if (found === null) throw new Error(`${name} (${from}) is not installed`);
    return found;
  };
  const [setpriv, prlimit] = [needed('setpriv'), needed('prlimit')];
  const inner = [...identity(kind, setpriv), prlimit, ...limitArguments(kind, limits), program, ...args];
  if (kind === 'process') return inner;
  if (kind === 'namespaces')
    return [setpriv, '--pdeathsig', 'KILL', needed('unshare'), ...namespaceArguments(), ...inner];
  const bwrap = needed('bwrap', 'bubblewrap');
  return [
    bwrap,
    ...bubblewrapArguments(),
    ...rootArguments(tools, [program, prlimit, setpriv], input?.path ?? null),
    ...inner,
  ];
}

/** Whether a limit of processes can be set: as root each sandbox is a user of its own, else it is counted by namespace. */
export function canLimitProcesses(kind: SandboxKind): boolean {
  if (isRoot()) return true;
  const [major = 0, minor = 0] = os.release().split('.').map(Number);
  // Before Linux 5.14 all processes of the user count, the service's own too.
  return kind !== 'process' && (major > 5 || (major === 5 && minor >= 14));
}

const isRoot = () => process.getuid?.() === 0;

function bubblewrapArguments(): string[] {
  // As root without a user namespace: only so can the program become another user, before it starts.
  const user = isRoot() ? ['CAP_SETUID', 'CAP_SETGID', 'CAP_SETPCAP'].flatMap((right) => ['--cap-add', right]) : [];
  return [
    ...(isRoot() ? [] : ['--unshare-user']),
    ...['--unshare-ipc', '--unshare-pid', '--unshare-net', '--unshare-uts', '--unshare-cgroup-try'],
    ...['--hostname', 'sandbox', '--new-session', '--die-with-parent', '--cap-drop', 'ALL', ...user],
    ...['--json-status-fd', String(STATUS), ...(systemCallFilter() ? ['--seccomp', String(FILTER)] : [])],
  ];
}

function namespaceArguments(): string[] {
  const all = ['--net', '--ipc', '--uts', '--pid', '--fork', '--kill-child', '--mount-proc'];
  return isRoot() ? all : ['--map-root-user', ...all];
}

/** Who the program is: without rights, as root another user; it gets no new ones from a setuid program. */
function identity(kind: SandboxKind, setpriv: string): string[] {
  const none = ['--inh-caps=-all', '--bounding-set=-all', '--no-new-privs'];
  const dies = kind === 'bubblewrap' ? [] : ['--pdeathsig', 'KILL'];
  if (isRoot()) {
    const id = USERS.first + (nextUser++ % USERS.count);
    return [setpriv, `--reuid=${id}`, `--regid=${id}`, '--clear-groups', ...none, ...dies];
  }
  if (kind === 'bubblewrap') return [];
  return [setpriv, ...(kind === 'namespaces' ? none : ['--no-new-privs']), ...dies];
}

function limitArguments(kind: SandboxKind, { memoryMaxBytes, cpuMaxSeconds }: SandboxOrder['limits']): string[] {
  return [
    ...[`--as=${memoryMaxBytes}`, `--cpu=${cpuMaxSeconds}`, `--nofile=${OPEN_FILES_MAX}`, '--core=0'],
    // Bars every file; pipes are not files, so its output still flows.
    '--fsize=0',
    ...(canLimitProcesses(kind) ? [`--nproc=${PROCESSES_MAX}`] : []),
  ];
}
