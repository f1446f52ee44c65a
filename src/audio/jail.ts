import type { ChildProcessByStdio } from 'node:child_process';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type { ToolPaths } from '../runtime/tools.ts';
import { findProgram, toolEnvironment } from '../runtime/tools.ts';

export type JailedProgram = 'ffmpeg' | 'ffprobe';
export type JailBounds = { tools: ToolPaths; memoryMaxBytes: number; cpuMaxSeconds: number; signal?: AbortSignal };
export type JailExit = { code: number | null; signal: NodeJS.Signals | null };

/** A decoder at work on a stranger's file. Its last words are for our logs only: they hold paths. */
export type JailedProcess = {
  stdout: Readable;
  ended: Promise<JailExit>;
  /** Ends it at once; `stdout` ends with what was already read. */
  kill(): void;
  /** Ends it and lets go of its output. */
  close(): void;
  lastWords(): string;
};

const STDERR_MAX_CHARS = 2000;

/**
 * Runs a program that reads a stranger's file: no shell, none of our environment, no network where the system lets us take it
 * away, no file written, and bounds on memory, processor time and open files. It dies with us.
 * @throws Error  naming the package to install, when the program is not there; the signal's reason, when it aborted
 */
export async function openJailed(program: JailedProgram, args: string[], bounds: JailBounds): Promise<JailedProcess> {
  const found = findProgram(bounds.tools, program);
  if (found === null) throw new Error(`${program} is not installed. Type: apt-get install ffmpeg`);
  const walls = await (wallsOfThisProcess ??= findWalls());
  bounds.signal?.throwIfAborted();
  const [command, ...rest] = [...wallArguments(walls, bounds), found, ...args];
  const child = spawn(command!, rest, {
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, so that one signal ends it with whatever it started.
    detached: true,
    cwd: '/',
    env: toolEnvironment(bounds.tools),
  });
  return guard(child, bounds.signal);
}

/**
 * Runs a jailed program to its end and keeps what it wrote.
 * @returns null where it went past a bound: too long, too much output, or ended by a signal
 */
export async function runJailed(
  program: JailedProgram,
  args: string[],
  bounds: JailBounds & { wallMs: number; stdoutMaxBytes: number },
): Promise<{ code: number; stdout: string; lastWords: string } | null> {
  const jailed = await openJailed(program, args, bounds);
  const timer = setTimeout(() => jailed.kill(), bounds.wallMs);
  try {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of jailed.stdout) {
      bytes += chunk.length;
      if (bytes > bounds.stdoutMaxBytes) return null;
      chunks.push(chunk);
    }
    const { code } = await jailed.ended;
    bounds.signal?.throwIfAborted();
    return code === null ? null : { code, stdout: Buffer.concat(chunks).toString(), lastWords: jailed.lastWords() };
  } finally {
    clearTimeout(timer);
    jailed.close();
  }
}

function guard(child: ChildProcessByStdio<null, Readable, Readable>, signal: AbortSignal | undefined): JailedProcess {
  let lastWords = '';
  let isEnded = false;
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    lastWords = (lastWords + text).slice(-STDERR_MAX_CHARS);
  });
  const kill = () => {
    if (!isEnded && child.pid !== undefined) killGroup(child.pid);
  };
  signal?.addEventListener('abort', kill, { once: true });
  const ended = once(child, 'exit').then(([code, name]): JailExit => {
    isEnded = true;
    signal?.removeEventListener('abort', kill);
    return { code, signal: name };
  });
  // Whoever awaits `ended` hears of a failed spawn; nobody else has to.
  ended.catch(() => undefined);
  const close = () => {
    kill();
    child.stdout.destroy();
  };
  return { stdout: child.stdout, ended, kill, close, lastWords: () => lastWords };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It ended by itself a moment ago.
  }
}

type Walls = { prlimit: boolean; setpriv: boolean; unshare: string[] | null };
let wallsOfThisProcess: Promise<Walls> | null = null;

/** Which walls this system gives us. Asked once: each costs a few ms and none changes while we run. */
async function findWalls(): Promise<Walls> {
  const [prlimit, setpriv, unshareAsRoot, unshareAsUser] = await Promise.all([
    works('prlimit', '--core=0', 'true'),
    works('setpriv', '--no-new-privs', '--pdeathsig', 'KILL', 'true'),
    works('unshare', '--net', 'true'),
    works('unshare', '--map-root-user', '--net', 'true'),
  ]);
  const unshare = unshareAsRoot ? ['unshare', '--net'] : unshareAsUser ? ['unshare', '--map-root-user', '--net'] : null;
  return { prlimit, setpriv, unshare };
}

function works(command: string, ...args: string[]): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(command, args, { timeout: 5000 }, (error) => resolve(error === null));
  });
}

function wallArguments(walls: Walls, { memoryMaxBytes, cpuMaxSeconds }: JailBounds): string[] {
  return [
    // --fsize=0 bars every file; pipes are not files, so its output still flows.
    ...(walls.prlimit
      ? ['prlimit', `--as=${memoryMaxBytes}`, `--cpu=${cpuMaxSeconds}`, '--fsize=0', '--nofile=64', '--core=0']
      : []),
    ...(walls.setpriv ? ['setpriv', '--no-new-privs', '--pdeathsig', 'KILL'] : []),
    ...(walls.unshare ?? []),
  ];
}
