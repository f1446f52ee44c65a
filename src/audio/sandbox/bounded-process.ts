import type { Readable, Writable } from 'node:stream';
import { findProgram, type ToolPaths } from '../../platform/tools.ts';
import { type OpenAudio, openAudio } from '../storage/open-audio.ts';
import { sandboxOfThisProcess } from './sandbox.ts';
import { type SandboxExit, type Sandboxed, spawnSandboxed } from './sandbox-process.ts';

export type SandboxedProgram = 'ffmpeg' | 'ffprobe';
export type SandboxBounds = {
  tools: ToolPaths;
  /** The file that the program may read, under the name INPUT_PATH. */
  input?: string;
  /** Whether the program reads `stdin`, in place of a file. */
  hasStdin?: boolean;
  memoryMaxBytes: number;
  cpuMaxSeconds: number;
  signal?: AbortSignal;
};

/** A running decoder of an untrusted file. */
export type SandboxedProcess = {
  /** Null where the program reads a file. */
  stdin: Writable | null;
  stdout: Readable;
  /**
   * @throws Error  when the program could not be started
   * @throws AudioGoneError, StorageAwayError  when that is because of its input
   */
  ended: Promise<SandboxExit>;
  /** Kills the program; `stdout` ends after the data already read. */
  kill(): void;
  /** Kills the program and discards its output. */
  close(): void;
  /** The end of the program's stderr, for logs only: it contains paths. */
  stderrEnd(): string;
};

const STDERR_MAX_CHARS = 2000;

/**
 * Starts a program that reads an untrusted file in the sandbox of this process (sandbox.ts).
 * @throws Error  that names the package to install, when the program is missing; the signal's reason
 * @throws AudioGoneError, StorageAwayError  when the input cannot be opened
 */
export async function openSandboxed(
  program: SandboxedProgram,
  args: string[],
  bounds: SandboxBounds,
): Promise<SandboxedProcess> {
  const { tools, signal, memoryMaxBytes, cpuMaxSeconds, hasStdin = false } = bounds;
  const found = findProgram(tools, program);
  if (found === null) throw new Error(`${program} is not installed. Type: apt-get install ffmpeg`);
  const { kind } = await sandboxOfThisProcess(tools);
  using file = bounds.input === undefined ? null : await openInput(bounds.input);
  signal?.throwIfAborted();
  const limits = { memoryMaxBytes, cpuMaxSeconds };
  const input = file && { path: bounds.input!, descriptor: file.descriptor };
  const { child, ended } = spawnSandboxed(kind, { tools, program: found, args, limits, input, hasStdin });
  return supervise({ child, ended: input === null ? ended : withInput(ended, input.path) }, signal);
}

/** Under root the program runs as another user. */
async function openInput(path: string): Promise<OpenAudio> {
  const file = await openAudio(path);
  if (process.getuid?.() === 0) await file.allowOthers();
  return file;
}

/**
 * The program opens the file again, to seek in it: where it does not start, its path may lead nowhere any more.
 * @throws AudioGoneError, StorageAwayError
 */
function withInput(ended: Promise<SandboxExit>, input: string): Promise<SandboxExit> {
  const known = ended.catch(async (cause: unknown) => {
    using _file = await openAudio(input);
    throw cause;
  });
  // Prevents an unhandled rejection where the caller does not await `ended`.
  known.catch(() => undefined);
  return known;
}

/**
 * Runs a program in the sandbox to its end and returns its output.
 * @returns `code` is null when the program ran longer than `wallMs`; null when it wrote too much or a signal ended it
 */
export async function runSandboxed(
  program: SandboxedProgram,
  args: string[],
  bounds: SandboxBounds & { wallMs: number; stdoutMaxBytes: number },
): Promise<{ code: number | null; stdout: string; stderrEnd: string } | null> {
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
    return { code: isOutOfTime ? null : code, stdout, stderrEnd: sandboxed.stderrEnd() };
  } finally {
    clearTimeout(timer);
    sandboxed.close();
  }
}

function supervise({ child, ended }: Sandboxed, signal: AbortSignal | undefined): SandboxedProcess {
  let stderrEnd = '';
  let isEnded = false;
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderrEnd = (stderrEnd + text).slice(-STDERR_MAX_CHARS);
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
  return { stdin: child.stdin, stdout: child.stdout, ended, kill, close, stderrEnd: () => stderrEnd };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The process has just ended.
  }
}
