import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { encodeFrame, frameStart, readFrames } from './child-frames.ts';
import type { ChildAnswer } from './child-serve.ts';

export type ChildSettings = {
  /** The module that the process runs. */
  module: URL;
  /** Passed to the process as JSON. */
  settings: unknown;
  environment: Record<string, string>;
  /** Resident memory above which the process is killed. */
  memoryMaxBytes: number;
  /** A lower priority than that of other engines: 0 to 19. */
  niceness?: number | undefined;
  /** A descriptor that the process has as its descriptor 4. */
  file?: number;
};

/** An engine's process. It handles one request at a time. */
export type Child<Answer = ChildAnswer> = {
  pid: number | undefined;
  /** The first answer: ready, or why the process cannot start. Rejects with ChildEnded. */
  ready: Promise<Answer>;
  /** @throws ChildEnded */
  request(header: unknown, body: Uint8Array): Promise<Answer>;
  /** Sends without waiting for an answer; lost when the process has ended. */
  send(header: unknown, body?: Uint8Array): void;
  /** The next answer, of a process that gives several. @throws ChildEnded */
  next(): Promise<Answer>;
  /** The end of what it has written to its stderr since the last time, for the log only. */
  takeMessages(): string;
  /** False once it has exited or was killed. */
  isAlive(): boolean;
  kill(): void;
  exited: Promise<void>;
};

/** The process ended before it answered. The message holds how it ended and the end of its stderr, for the log only. */
class ChildEnded extends Error {
  override name = 'ChildEnded';
}

const STDERR_MAX_CHARS = 2000;
const MEMORY_CHECK_INTERVAL_MS = 1000;
// A lower priority than the service's own: requests and deliveries stay fast while every core transcribes.
const NICENESS = 5;

/** Starts an engine's process. It ends when this process ends, even by SIGKILL (`endWithParent`). */
export function startChild<Answer = ChildAnswer>(settings: ChildSettings): Child<Answer> {
  let child: ChildProcess;
  try {
    child = spawnChild(settings);
  } catch (cause) {
    return neverStarted(Promise.resolve(cause));
  }
  // Without a process id nothing was started: there are no pipes and there will be no `exit` event.
  if (child.pid === undefined) return neverStarted(once(child, 'error').then(([cause]) => cause));
  return followChild<Answer>(child, settings);
}

/** @throws Error  for some of the reasons why a process cannot start; for the others the child emits `error` */
function spawnChild({ module, settings, environment, file }: ChildSettings): ChildProcess {
  return spawn(process.execPath, [fileURLToPath(module), JSON.stringify(settings)], {
    stdio: ['pipe', 'ignore', 'pipe', 'pipe', ...(file === undefined ? [] : [file])],
    // A process group of its own: Ctrl-C in a terminal signals the service only, which then ends the engine.
    detached: true,
    env: environment,
  });
}

/** Stands for a process that could not start: it behaves like one that ended before it answered. */
function neverStarted(cause: Promise<unknown>): Child<never> {
  const answer = async (): Promise<never> => {
    throw new ChildEnded(`it could not be started: ${await cause}`);
  };
  return {
    pid: undefined,
    ready: answer(),
    request: answer,
    send: () => undefined,
    next: answer,
    takeMessages: () => '',
    isAlive: () => false,
    kill: () => undefined,
    exited: cause.then(() => undefined),
  };
}

function followChild<Answer>(
  child: ChildProcess,
  { memoryMaxBytes, niceness = NICENESS }: ChildSettings,
): Child<Answer> {
  const stderr = new StderrEnd(child.stderr!);
  // EPIPE when the process has just ended: `exit` reports it.
  child.stdin!.on('error', () => undefined);
  const exited = once(child, 'exit').then(([code, signal]) => `it ended with ${signal ?? `code ${code}`}`);
  const stopWatching = watchMemory(child, memoryMaxBytes);
  lowerPriority(child.pid, niceness);
  const answers = readFrames(child.stdio[3] as Readable);
  let isAlive = true;
  const ended = exited.then((how) => {
    isAlive = false;
    stopWatching();
    return new ChildEnded(`${how}; the end of its stderr: ${stderr.end}`);
  });
  const nextAnswer = async (): Promise<Answer> => {
    const next = await answers.next().catch(() => ({ done: true, value: undefined }) as const);
    if (!next.done) return next.value.header as Answer;
    killGroup(child);
    throw await ended;
  };
  return {
    pid: child.pid,
    ready: nextAnswer(),
    request(header, body) {
      child.stdin!.write(frameStart(header, body));
      child.stdin!.write(body);
      return nextAnswer();
    },
    send: (header, body) => void child.stdin!.write(encodeFrame(header, body)),
    next: nextAnswer,
    takeMessages: () => stderr.take(),
    isAlive: () => isAlive,
    kill() {
      // It may still answer what it was asked before; it takes nothing more.
      isAlive = false;
      killGroup(child);
    },
    exited: ended.then(() => undefined),
  };
}

class StderrEnd {
  end = '';
  #untaken = '';

  constructor(stderr: Readable) {
    stderr.setEncoding('utf8').on('data', (text: string) => {
      this.end = (this.end + text).slice(-STDERR_MAX_CHARS);
      this.#untaken = (this.#untaken + text).slice(-STDERR_MAX_CHARS);
    });
  }

  take(): string {
    const taken = this.#untaken;
    this.#untaken = '';
    return taken.trim();
  }
}

/** Node's own limits do not cover native memory, and V8 does not start under an address space limit. */
function watchMemory(child: ChildProcess, memoryMaxBytes: number): () => void {
  const timer = setInterval(() => {
    if ((residentBytes(child.pid) ?? 0) > memoryMaxBytes) killGroup(child);
  }, MEMORY_CHECK_INTERVAL_MS).unref();
  return () => clearInterval(timer);
}

function residentBytes(pid: number | undefined): number | null {
  try {
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kilobytes === undefined ? null : Number(kilobytes) * 1024;
  } catch {
    return null;
  }
}

function lowerPriority(pid: number | undefined, niceness: number): void {
  try {
    if (pid !== undefined) os.setPriority(pid, niceness);
  } catch {
    // The process has ended, or the system forbids it.
  }
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The process has just ended.
  }
}
