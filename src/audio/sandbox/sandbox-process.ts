import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import os from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { findProgram, type ToolPaths, toolEnvironment } from '../../platform/tools.ts';
import { rootArguments } from './sandbox-root.ts';
import { systemCallFilter } from './system-call-filter.ts';

/**
 * bubblewrap: all protections. namespaces: `unshare` of util-linux. process: limits and, under root, another user.
 * limits: limits only, where root cannot change the user or other users cannot enter the root folder.
 */
export type SandboxKind = 'bubblewrap' | 'namespaces' | 'process' | 'limits' | 'none';

export type SandboxOrder = {
  tools: ToolPaths;
  /** Path of the program. */
  program: string;
  args: string[];
  limits: { memoryMaxBytes: number; cpuMaxSeconds: number };
  /** The file that the program may read, under the name INPUT_PATH: its real path, and an open descriptor. */
  input: { path: string; descriptor: number } | null;
  /** Whether the program reads what is written to it, in place of a file. */
  hasStdin?: boolean;
};

/** `code` is null when a signal ended the program, inside the sandbox too. */
export type SandboxExit = { code: number | null; signal: NodeJS.Signals | null };
export type Sandboxed = {
  child: ChildProcessByStdio<Writable | null, Readable, Readable>;
  /** @throws Error  when the sandbox could not be set up, or the program not be started in it */
  ended: Promise<SandboxExit>;
};

/**
 * Threads count as processes: ffmpeg has about one for each stage of its pipeline. In bubblewrap all are threads of one
 * process; in the weaker kinds each may be a process with as much memory as the limit allows.
 */
const PROCESSES_MAX = 16;
const OPEN_FILES_MAX = 64;
/**
 * Under root each sandbox runs as a user of its own that owns no files, because the limit of processes counts per user.
 * Debian does not assign these numbers. `nobody` is unsuitable: it owns the files of the embedded PostgreSQL.
 */
const USERS = { first: 65_000, count: 256 };
let nextUser = 0;
/**
 * Descriptors of bubblewrap: it writes the program's exit code to the first and reads the system call filter from the
 * second.
 */
const STATUS = 3;
const FILTER = 4;
/** Exit codes of prlimit and setpriv when they cannot start the program. */
const NOT_STARTED = [126, 127];

/**
 * Starts a program in a sandbox, without this process's environment and open files, in a process group of its own, so
 * that one signal ends it with its children. It ends when this process ends.
 * @throws Error  that names a missing tool, or when no file descriptor is left
 */
export function spawnSandboxed(kind: SandboxKind, order: SandboxOrder): Sandboxed {
  const [command, ...args] = commandOf(kind, order);
  const filter = kind === 'bubblewrap' ? systemCallFilter() : null;
  const child = spawn(command!, args, {
    stdio: [
      order.hasStdin ? 'pipe' : kind === 'bubblewrap' ? 'ignore' : (order.input?.descriptor ?? 'ignore'),
      'pipe',
      'pipe',
      ...(kind === 'bubblewrap' ? (['pipe'] as const) : []),
      ...(filter ? (['pipe'] as const) : []),
    ],
    detached: true,
    cwd: '/',
    env: toolEnvironment(order.tools),
  }) as unknown as Sandboxed['child'];
  // Then it has no pipes, and only its event `error` follows.
  if (child.stdio === undefined) {
    child.on('error', () => undefined);
    throw new Error('No file descriptor is left for the pipes of a program.');
  }
  if (filter !== null) {
    const pipe = child.stdio[FILTER] as unknown as Writable;
    // Fails when bubblewrap has ended already; `untilEnded` reports that.
    pipe.on('error', () => undefined).end(filter);
  }
  const ended = untilEnded(child, kind);
  // Prevents an unhandled rejection where the caller does not await `ended`.
  ended.catch(() => undefined);
  return { child, ended };
}

async function untilEnded(child: Sandboxed['child'], kind: SandboxKind): Promise<SandboxExit> {
  const status = kind === 'bubblewrap' ? text(child.stdio[STATUS] as unknown as Readable).catch(() => '') : '';
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  if (code === null) return { code, signal };
  // bubblewrap reports the program's exit code on STATUS.
  // Its own failures end with 1, as ffmpeg's do, but without that report.
  const isSetUp = kind !== 'bubblewrap' || (await status).includes('"exit-code"');
  if (!isSetUp || NOT_STARTED.includes(code)) throw new Error(`The sandbox (${kind}) could not be set up.`);
  const inner = signalOf(code);
  return inner === null ? { code, signal } : { code: null, signal: inner };
}

/** Like a shell, bubblewrap ends with 128 plus the number of the signal that ended the program. */
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
  if (kind === 'process' || kind === 'limits') return inner;
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

/** Whether processes can be limited: under root per user (each sandbox has its own), else per user namespace. */
export function canLimitProcesses(kind: SandboxKind): boolean {
  if (kind === 'limits') return false;
  if (isRoot()) return true;
  const [major = 0, minor = 0] = os.release().split('.').map(Number);
  // Before Linux 5.14 the limit counts all processes of the user, including the service's own.
  return kind !== 'process' && (major > 5 || (major === 5 && minor >= 14));
}

const isRoot = () => process.getuid?.() === 0;

function bubblewrapArguments(): string[] {
  // Under root without a user namespace, because setpriv must still be able to change the user.
  const user = isRoot() ? ['CAP_SETUID', 'CAP_SETGID', 'CAP_SETPCAP'].flatMap((right) => ['--cap-add', right]) : [];
  return [
    ...(isRoot() ? [] : ['--unshare-user']),
    ...'--unshare-ipc --unshare-pid --unshare-net --unshare-uts --unshare-cgroup-try'.split(' '),
    ...'--new-session --die-with-parent --cap-drop ALL'.split(' '),
    ...user,
    ...['--json-status-fd', String(STATUS)],
    ...(systemCallFilter() ? ['--seccomp', String(FILTER)] : []),
  ];
}

function namespaceArguments(): string[] {
  const all = ['--net', '--ipc', '--uts', '--pid', '--fork', '--kill-child', '--mount-proc'];
  return isRoot() ? all : ['--map-root-user', ...all];
}

/** Drops all capabilities, under root the user too, and prevents setuid programs from granting new ones. */
function identity(kind: SandboxKind, setpriv: string): string[] {
  const none = ['--inh-caps=-all', '--bounding-set=-all', '--no-new-privs'];
  const endWithParent = kind === 'bubblewrap' ? [] : ['--pdeathsig', 'KILL'];
  if (kind === 'limits') return [setpriv, '--no-new-privs', ...endWithParent];
  if (isRoot()) {
    const id = USERS.first + (nextUser++ % USERS.count);
    return [setpriv, `--reuid=${id}`, `--regid=${id}`, '--clear-groups', ...none, ...endWithParent];
  }
  if (kind === 'bubblewrap') return [];
  return [setpriv, ...(kind === 'namespaces' ? none : ['--no-new-privs']), ...endWithParent];
}

function limitArguments(kind: SandboxKind, { memoryMaxBytes, cpuMaxSeconds }: SandboxOrder['limits']): string[] {
  return [
    ...[`--as=${memoryMaxBytes}`, `--cpu=${cpuMaxSeconds}`, `--nofile=${OPEN_FILES_MAX}`, '--core=0'],
    // Forbids writing to files; pipes, such as the program's output, are not affected.
    '--fsize=0',
    ...(canLimitProcesses(kind) ? [`--nproc=${PROCESSES_MAX}`] : []),
  ];
}
