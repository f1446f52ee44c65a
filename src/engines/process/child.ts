import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { encodeFrame, readFrames } from './child-frames.ts';
import type { ChildAnswer } from './child-serve.ts';

export type ChildSettings = {
  /** The module that the process runs. */
  module: URL;
  /** Handed to it as JSON. */
  settings: unknown;
  environment: Record<string, string>;
  /** Resident memory past which it is killed. */
  memoryMaxBytes: number;
};

/** An engine's process. It takes one question at a time. */
export type Child = {
  pid: number | undefined;
  /** Its first answer: ready, or why it cannot start. Rejects with ChildEnded. */
  ready: Promise<ChildAnswer>;
  /** @throws ChildEnded */
  ask(header: unknown, body: Uint8Array): Promise<ChildAnswer>;
  isAlive(): boolean;
  kill(): void;
  exited: Promise<void>;
};

/** The process ended before it answered; the message tells how, and its last words, for our logs. */
class ChildEnded extends Error {
  override name = 'ChildEnded';
}

const LAST_WORDS_MAX_CHARS = 2000;
const MEMORY_CHECK_INTERVAL_MS = 1000;
// Below the service itself, so that requests and deliveries keep their pace while every core transcribes.
const NICENESS = 5;

/** Starts an engine's process. It ends by itself when this process goes away, however that happens. */
export function startChild(settings: ChildSettings): Child {
  let child: ChildProcess;
  try {
    child = spawnChild(settings);
  } catch (cause) {
    return neverStarted(Promise.resolve(cause));
  }
  // Without a process id nothing was started: there are no pipes to use, and no exit will follow.
  if (child.pid === undefined) return neverStarted(once(child, 'error').then(([cause]) => cause));
  return followChild(child, settings.memoryMaxBytes);
}

/** @throws Error  for some of the reasons why a process cannot be started; of the others, an event `error` tells */
function spawnChild({ module, settings, environment }: ChildSettings): ChildProcess {
  return spawn(process.execPath, [fileURLToPath(module), JSON.stringify(settings)], {
    stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
    // A group of its own: Ctrl-C in a terminal reaches us alone, and we end it in order.
    detached: true,
    env: { ...environment, ...keptCode() },
  });
}

/** The process that could not be started, in the shape of one that ended before it answered. */
function neverStarted(cause: Promise<unknown>): Child {
  const answer = async (): Promise<ChildAnswer> => {
    throw new ChildEnded(`it could not be started: ${await cause}`);
  };
  return {
    pid: undefined,
    ready: answer(),
    ask: answer,
    isAlive: () => false,
    kill: () => undefined,
    exited: cause.then(() => undefined),
  };
}

function followChild(child: ChildProcess, memoryMaxBytes: number): Child {
  const lastWords = keepLastWords(child.stderr!);
  // A write to a process that has just ended; its exit tells the story.
  child.stdin!.on('error', () => undefined);
  const exited = once(child, 'exit').then(([code, signal]) => `it ended with ${signal ?? `code ${code}`}`);
  const stopWatching = watchMemory(child, memoryMaxBytes);
  lowerPriority(child.pid);
  const answers = readFrames(child.stdio[3] as Readable);
  let isAlive = true;
  const ended = exited.then((how) => {
    isAlive = false;
    stopWatching();
    return new ChildEnded(`${how}; its last words: ${lastWords()}`);
  });
  const nextAnswer = async (): Promise<ChildAnswer> => {
    const next = await answers.next().catch(() => ({ done: true, value: undefined }) as const);
    if (!next.done) return next.value.header as ChildAnswer;
    killGroup(child);
    throw await ended;
  };
  return {
    pid: child.pid,
    ready: nextAnswer(),
    ask(header, body) {
      child.stdin!.write(encodeFrame(header, body));
      return nextAnswer();
    },
    isAlive: () => isAlive,
    kill: () => killGroup(child),
    exited: ended.then(() => undefined),
  };
}

/** Where Node keeps the code that was loaded before, as for this process: it starts in half the time. */
function keptCode(): Record<string, string> {
  // The folder of this version of Node, within the one that is named in the environment.
  const folder = getCompileCacheDir();
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: path.dirname(folder) };
}

function keepLastWords(stderr: Readable): () => string {
  let words = '';
  stderr.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(-LAST_WORDS_MAX_CHARS);
  });
  return () => words;
}

/** Native memory is outside the reach of Node's own limits, and an address-space limit forbids V8 to start. */
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

function lowerPriority(pid: number | undefined): void {
  try {
    if (pid !== undefined) os.setPriority(pid, NICENESS);
  } catch {
    // It has ended already, or the system does not let us.
  }
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It ended a moment ago.
  }
}
