import type { Logger } from 'pino';
import { pino } from 'pino';

export type Log = Logger;

// What waits while standard output takes nothing; lines past it are lost.
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

/**
 * JSON lines on standard output: one wide line per request, job and attempt. `error` means that a person must look,
 * `warn` that something healed, `info` is the wide line.
 * Callers pass ids, durations in ms and outcomes; never a key, a secret, a transcript or metadata.
 * @param level  a pino level name, or `silent`
 */
export function openLog(level: string, bindings: Record<string, unknown> = {}): Log {
  const options = {
    level,
    base: bindings,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    // A second line of defence only: no caller hands these over.
    redact: { paths: ['*.authorization', '*["x-api-key"]', '*.secret', '*.key'], censor: '[removed]' },
  };
  return pino(options, standardOutput());
}

/** Takes no harm when it cannot be written to, as on a full disk: what waits is written once there is room again. */
function standardOutput() {
  const output = pino.destination({ dest: 1, sync: false, maxLength: MAX_WAITING_BYTES });
  // Without a listener the error would end the process, and the whole service with its parent.
  return output.on('error', () => undefined);
}
