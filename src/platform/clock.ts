import { randomFillSync } from 'node:crypto';
import { type IdPrefix, newId } from '../rules/ids.ts';

/** The time of the process. Rules do not use a clock: their callers pass `now`. */
export type Clock = {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms`, or at once when the signal aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
};

export const systemClock: Clock = {
  now: () => Date.now(),
  // Node's promised timer makes an error for each abort: 16 µs, where this takes 3.
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const end = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      signal?.addEventListener('abort', end);
    }),
};

/**
 * Waits for a promise, at most `ms` or until the signal aborts.
 * True when the promise came first. Leaves no timer behind.
 */
export async function waitAtMost(
  clock: Clock,
  promise: Promise<unknown>,
  ms: number,
  signal?: AbortSignal,
): Promise<boolean> {
  // Aborted with a reason: without one, an error is made for each wait.
  const done = new AbortController();
  const timeout = clock.sleep(ms, signal ? AbortSignal.any([signal, done.signal]) : done.signal).then(() => false);
  return await Promise.race([promise.then(() => true), timeout]).finally(() => done.abort(null));
}

/** The result of a promise. Rejects with the signal's reason where that aborts first: the promise is not waited for. */
export async function unlessAborted<Result>(promise: Promise<Result>, signal: AbortSignal): Promise<Result> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort);
  return await Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', abort));
}

/** A fresh id such as `job_01k…`: time-sortable, 80 random bits. */
export function makeId(prefix: IdPrefix, clock: Clock = systemClock): string {
  return newId(prefix, clock.now(), nextRandomBytes());
}

const RANDOM_BYTES = 10;
// A system call for each id takes longer than making the id.
const randomPool = Buffer.alloc(128 * RANDOM_BYTES);
let usedBytes = randomPool.length;

function nextRandomBytes(): Buffer {
  if (usedBytes === randomPool.length) {
    randomFillSync(randomPool);
    usedBytes = 0;
  }
  usedBytes += RANDOM_BYTES;
  return randomPool.subarray(usedBytes - RANDOM_BYTES, usedBytes);
}
