import { reasonOfMissingFile } from '../../platform/files/missing-file.ts';
import { EngineError } from '../engine.ts';
import type { Child } from './child.ts';

// A model of 600 MB loads in 1.3 s from the page cache; a slow disk takes far longer.
const START_TIMEOUT_MS = 120_000;
const RESTART_DELAY_BASE_MS = 100;
const RESTART_DELAY_MAX_MS = 5_000;

/**
 * Waits for the first answer of an engine process.
 * Null when it is ready; a process that does not answer in time is killed.
 * @param startAdvice  what the operator should do when it cannot start
 */
export async function errorAtStart<Answer extends { kind: string }>(
  child: Child<Answer>,
  startAdvice: string,
): Promise<EngineError | null> {
  const timer = setTimeout(() => child.kill(), START_TIMEOUT_MS);
  const answer = await child.ready.catch((error: Error) => error).finally(() => clearTimeout(timer));
  if ('kind' in answer && answer.kind === 'ready') return null;
  const cause = answerReason(answer);
  const advice = reasonOfMissingFile() ?? startAdvice;
  return new EngineError('engine_error', `The speech engine cannot start. ${advice}`, {
    cause,
    failure: { kind: 'start' },
  });
}

/** The reason that an answer gives, as an error; else the answer. */
export function answerReason(answer: object): unknown {
  return 'reason' in answer ? new Error(String(answer.reason)) : answer;
}

/** The engine gave an error for this audio, and its process goes on. */
export function failedOnAudio(cause: unknown): EngineError {
  return new EngineError('engine_error', 'The speech engine failed on this audio.', { cause });
}

/** The process ended while it had this audio. */
export function stoppedOnAudio(cause: unknown): EngineError {
  return new EngineError('engine_error', 'The speech engine stopped while it worked on this audio.', {
    cause,
    failure: { kind: 'died' },
  });
}

/** The engine is asked for something after it was closed. */
export function closed(): EngineError {
  return new EngineError('engine_error', 'The speech engine is closed.', { failure: { kind: 'start' } });
}

/** How long to wait before a process is started again. @param failures  in a row, at least 1 */
export function restartDelayMs(failures: number): number {
  return Math.min(RESTART_DELAY_MAX_MS, RESTART_DELAY_BASE_MS * 2 ** (failures - 1));
}
