import type { Logger } from 'pino';
import { pino } from 'pino';

export type Log = Logger;

// Buffered while standard output is blocked; further lines are lost.
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

/**
 * JSON lines on standard output: one wide line per request, job and failed attempt. `error` means that a person must act,
 * `warn` that the service recovered, `info` is the wide line; successful attempts are at `debug`.
 * Callers pass ids, durations in ms and outcomes; never a key, a secret, a transcript or metadata.
 * @param level  a pino level name, or `silent`
 */
export function openLog(level: string, bindings: Record<string, unknown> = {}): Log {
  const options = {
    level,
    base: bindings,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    // A second defence: no caller passes these.
    redact: { paths: ['*.authorization', '*["x-api-key"]', '*.secret', '*.key'], censor: '[removed]' },
  };
  return pino(options, standardOutput());
}

/** Buffers lines while they cannot be written, as on a full disk, and writes them later. */
function standardOutput() {
  const output = pino.destination({ dest: 1, sync: false, maxLength: MAX_WAITING_BYTES });
  // Without a listener the error would end the process, and the whole service with its parent.
  return output.on('error', () => undefined);
}
