import { writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { type DestinationStream, type Logger, pino } from 'pino';
import { textOfLogLine } from '../rules/log-text.ts';

export type Log = Logger;

type LineStream = DestinationStream & { lastLevel: number };

// Buffered while standard output is blocked; further lines are lost.
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
const MAX_WRITE_BYTES = 1024 * 1024;
// A write for each line costs more than the line: 5 % of the processor time of a job.
const GATHER_MS = 50;
// How long a process that ends waits for a reader that is slow to take the last lines.
const EXIT_WRITE_MS = 1_000;
const EXIT_RETRY_MS = 10;

/**
 * Lines on standard output, JSON unless a terminal reads them: one wide line per request, job and failed attempt.
 * `error` means that a person must act, `warn` that the service recovered, `info` is the wide line; successful attempts
 * are at `debug`. Callers pass ids, durations in ms and outcomes; never a key, a secret, a transcript or metadata.
 * @param level  a pino level name, or `silent`
 * @param format  as LOG_FORMAT
 */
export function openLog(level: string, bindings: Record<string, unknown> = {}, format: string = 'json'): Log {
  const options = {
    level,
    base: bindings,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    // A second defence: no caller passes these.
    redact: { paths: ['*.authorization', '*["x-api-key"]', '*.secret', '*.key'], censor: '[removed]' },
  };
  standardOutput ??= openStandardOutput(isLogText(format));
  return pino(options, standardOutput);
}

/** Whether lines are written as text. */
export function isLogText(format: string): boolean {
  return format === 'text' || (format === 'auto' && isatty(1));
}

let standardOutput: LineStream | null = null;

/**
 * Standard output of this process: writes the lines of 50 ms together, a line of level `warn` or above and those before
 * it at once, and the rest when the process exits. Keeps lines that cannot be written, as on a full disk, and writes
 * them later.
 */
function openStandardOutput(isText: boolean): LineStream {
  // Only `flush` writes to the descriptor: what is given to `write` at the exit, pino then writes and waits for.
  const output = pino.destination({
    dest: 1,
    sync: false,
    maxLength: MAX_WAITING_BYTES,
    maxWrite: MAX_WRITE_BYTES,
    minLength: MAX_WRITE_BYTES - 1,
  });
  let lines = '';
  let isWriting = false;
  let isClosed = false;
  let hasFailed = false;
  const write = () => {
    if (isWriting || isClosed || lines === '') return;
    isWriting = true;
    output.write(lines);
    lines = '';
    output.flush();
  };
  const written = () => {
    isWriting = false;
    write();
  };
  // Without a listener the error would end the process, and the whole service with its parent.
  output
    .on('drain', () => {
      hasFailed = false;
      written();
    })
    .on('error', () => {
      hasFailed = true;
      written();
    })
    .on('close', () => {
      isClosed = true;
    });
  process.prependListener('exit', () => {
    if (isClosed) return;
    // pino repeats a write that fails, to a closed pipe or a full disk, until it succeeds: the process would never end.
    if (hasFailed || !writeBeforeExit(lines)) output.destroy();
  });
  return {
    // pino then sets the level of each line before it writes the line.
    [Symbol.for('pino.metadata')]: true,
    lastLevel: 0,
    write(line: string) {
      if (lines.length > MAX_WAITING_BYTES) return;
      if (lines === '') setTimeout(write, GATHER_MS).unref();
      lines += isText ? textOfLogLine(line) : line;
      if (this.lastLevel >= pino.levels.values['warn']!) write();
    },
  };
}

/**
 * Writes the text to standard output, waiting for a slow reader.
 * False when that fails, or takes longer than `EXIT_WRITE_MS`.
 */
function writeBeforeExit(text: string): boolean {
  const endsAtMs = performance.now() + EXIT_WRITE_MS;
  const pause = new Int32Array(new SharedArrayBuffer(4));
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || performance.now() > endsAtMs) return false;
      Atomics.wait(pause, 0, 0, EXIT_RETRY_MS);
    }
  }
  return true;
}
