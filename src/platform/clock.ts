import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { IdPrefix } from '../rules/ids.ts';
import { newId } from '../rules/ids.ts';

/** The time of the process. Rules do not use a clock: their callers pass `now`. */
export type Clock = {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms`, or at once when the signal aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
};

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) => delay(ms, undefined, { signal }).catch(() => undefined),
};

/** A fresh id such as `job_01k…`: time-sortable, 80 random bits. */
export function makeId(prefix: IdPrefix, clock: Clock = systemClock): string {
  return newId(prefix, clock.now(), randomBytes(10));
}
