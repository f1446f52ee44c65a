import type { Logger } from 'pino';
import { pino } from 'pino';

export type Log = Logger;

/**
 * JSON lines on standard output: one wide line per request, job and attempt. `error` means that a person must look,
 * `warn` that something healed, `info` is the wide line.
 * Callers pass ids, durations in ms and outcomes; never a key, a secret, a transcript or metadata.
 * @param level  a pino level name, or `silent`
 */
export function openLog(level: string, bindings: Record<string, unknown> = {}): Log {
  return pino({
    level,
    base: bindings,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label) => ({ level: label }) },
    // A second line of defence only: no caller hands these over.
    redact: { paths: ['*.authorization', '*["x-api-key"]', '*.secret', '*.key'], censor: '[removed]' },
  });
}
