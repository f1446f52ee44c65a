import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { ToolPaths } from '../../platform/tools.ts';
import { findProgram } from '../../platform/tools.ts';
import { sandboxOfThisProcess } from './sandbox.ts';
import type { SandboxExit, Sandboxed } from './sandbox-process.ts';
import { spawnSandboxed } from './sandbox-process.ts';

export type SandboxedProgram = 'ffmpeg' | 'ffprobe';
export type SandboxBounds = {
  tools: ToolPaths;
  /** Path of the file that the program may read; it sees it as INPUT_PATH. */
  input?: string;
  memoryMaxBytes: number;
  cpuMaxSeconds: number;
  signal?: AbortSignal;
};

/** A decoder at work on a stranger's file. Its last words are for our logs only: they hold paths. */
export type SandboxedProcess = {
  stdout: Readable;
  /** @throws Error  when it could not be started */
  ended: Promise<SandboxExit>;
  /** Ends it at once; `stdout` ends with what was already read. */
  kill(): void;
  /** Ends it and lets go of its output. */
  close(): void;
  lastWords(): string;
};

const STDERR_MAX_CHARS = 2000;

/**
 * Runs a program that reads a stranger's file in the sandbox of this process: sandbox.ts says what that keeps from it.
 * @throws Error  naming the package to install, when the program is not there; the signal's reason, when it aborted
 */
export async function openSandboxed(
  program: SandboxedProgram,
  args: string[],
  bounds: SandboxBounds,
): Promise<SandboxedProcess> {
  const { tools, signal, memoryMaxBytes, cpuMaxSeconds } = bounds;
  const found = findProgram(tools, program);
  if (found === null) throw new Error(`${program} is not installed. Type: apt-get install ffmpeg`);
  const { kind } = await sandboxOfThisProcess(tools);
  await using file = bounds.input === undefined ? null : await openInput(bounds.input);
  signal?.throwIfAborted();
  const limits = { memoryMaxBytes, cpuMaxSeconds };
  const input = file && { path: bounds.input!, descriptor: file.fd };
  return guard(spawnSandboxed(kind, { tools, program: found, args, limits, input }), signal);
}

/** The program opens it once more, to seek in it; as root that is another user, who needs the right to. */
async function openInput(path: string): Promise<FileHandle> {
  // A pipe would not open before somebody writes into it.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const { mode } = await file.stat();
  // The folder that it lies in stays closed to all others.
  if (process.getuid?.() === 0 && (mode & 0o004) === 0) await file.chmod((mode & 0o7777) | 0o004);
  return file;
}

/**
 * Runs a sandboxed program to its end and keeps what it wrote.
 * @returns `code` is null where it was still running after `wallMs`; null where it wrote too much, or was ended by a signal
 */
export async function runSandboxed(
  program: SandboxedProgram,
  args: string[],
  bounds: SandboxBounds & { wallMs: number; stdoutMaxBytes: number },
): Promise<{ code: number | null; stdout: string; lastWords: string } | null> {
  const sandboxed = await openSandboxed(program, args, bounds);
  let isOutOfTime = false;
  const timer = setTimeout(() => {
    isOutOfTime = true;
    sandboxed.kill();
  }, bounds.wallMs);
  try {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of sandboxed.stdout) {
      bytes += chunk.length;
      if (bytes > bounds.stdoutMaxBytes) return null;
      chunks.push(chunk);
    }
    const { code } = await sandboxed.ended;
    bounds.signal?.throwIfAborted();
    if (code === null && !isOutOfTime) return null;
    const stdout = Buffer.concat(chunks).toString();
    return { code: isOutOfTime ? null : code, stdout, lastWords: sandboxed.lastWords() };
  } finally {
    clearTimeout(timer);
    sandboxed.close();
  }
}

function guard({ child, ended }: Sandboxed, signal: AbortSignal | undefined): SandboxedProcess {
  let lastWords = '';
  let isEnded = false;
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    lastWords = (lastWords + text).slice(-STDERR_MAX_CHARS);
  });
  const kill = () => {
    if (!isEnded && child.pid !== undefined) killGroup(child.pid);
  };
  signal?.addEventListener('abort', kill, { once: true });
  child.once('exit', () => {
    isEnded = true;
    signal?.removeEventListener('abort', kill);
  });
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
