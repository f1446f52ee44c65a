import type { AudioStorage } from '../../src/audio/storage/storage.ts';
import { readConfig } from '../../src/config/settings.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { type Log, openLog } from '../../src/platform/log.ts';
import type { EngineFailure } from '../../src/rules/fault.ts';
import { openSecretBox } from '../../src/webhooks/secrets/secrets.ts';
import type { SimulatedServer } from './database.ts';
import type { Receivers } from './receivers.ts';
import type { Actor, Simulator } from './simulator.ts';

export const SETTINGS = readConfig({
  WEBHOOK_RETRY_DELAYS: '0,2,4,8',
  WEBHOOK_TIMEOUT_MS: '1000',
  WEBHOOK_DISABLE_FAILURES: '4',
  WEBHOOK_DISABLE_SECONDS: '6',
  AUDIO_RETENTION_HOURS: '0',
});
export const SECRET_BOX = openSecretBox(Buffer.alloc(32, 7));
/** One call of the engine: the slot that made it, and the database's time. The engine's answer names the call. */
export type Call = { slot: string; atMs: number };

/** The true time of a step, and by how much it set the database's clock forward. */
export type ClockStep = { atMs: number; byMs: number };

/** What all processes of one simulation share. */
export type Environment = {
  simulator: Simulator;
  server: SimulatedServer;
  receivers: Receivers;
  calls: Call[];
  /**
   * Probability that the engine fails, takes longer than a lease lasts, or that its process freezes past its leases.
   */
  engineFaults: { fails: number; crawls: number; freezes: number };
  /** Until when the engine of a process is away, by the process's slot, and what its calls do meanwhile. */
  enginesAway: Map<string, { untilMs: number; failure: EngineFailure }>;
  /** Processes that froze in a call of the engine. */
  frozenCalls: number;
  /** Processes that have ended: the name under which they held leases, and the database's time of their end. */
  endedAtMs: Map<string, number>;
  /** Parent processes that set free what their ended children held. */
  parents: Actor[];
  /** Times at which the database's clock was set forward. */
  clockSteps: ClockStep[];
  /** Messages of errors that no client expects, and of errors in the log. */
  unexpected: string[];
  /** Deliveries that only the search of all webhooks found. */
  foundLate: number;
  /** Promises to clients of live sessions that were not true. */
  liveViolations: string[];
};

// Late polls are realistic on a busy machine, and save most of the simulation's idle steps.
const LATEST_MS = 4_000;

/** A log whose errors violate a rule: an error is for what a person must repair. */
export function logOf({ unexpected }: Environment): Log {
  const error = ({ err }: { err?: Error }, message: string) => void unexpected.push(`${message}: ${err?.message}`);
  return Object.assign(openLog('silent'), { error });
}

export function newActor(slot: string, holder = slot): Actor {
  return {
    slot,
    holder,
    isAlive: true,
    frozenUntilMs: 0,
    clockOffsetMs: 0,
    cutOffUntilMs: 0,
    death: new AbortController(),
    onDeath: [],
  };
}

/** Ends a process: its pending steps are dropped, and its connections close. */
export async function die(actor: Actor): Promise<void> {
  actor.isAlive = false;
  actor.death.abort();
  for (const tell of actor.onDeath) await tell();
}

export function clockOf(actor: Actor, simulator: Simulator): Clock {
  return {
    now: () => simulator.nowMs() + actor.clockOffsetMs,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const forget = signal && onAbort(signal, actor, resolve);
        simulator.after(actor, ms + (ms >= 1_000 ? simulator.random.next() * LATEST_MS : 0), () => {
          forget?.();
          resolve();
        });
      }),
  };
}

/**
 * Calls back when the signal is aborted, unless the actor has died or the returned function was called. Node keeps a
 * signal that combines others, with all that its listeners refer to, until its last listener is removed.
 */
export function onAbort(signal: AbortSignal, { death }: Actor, callback: () => void): () => void {
  signal.addEventListener('abort', callback, { once: true, signal: death.signal });
  return () => signal.removeEventListener('abort', callback);
}

/** Files are not simulated: the key contains what the fake decoder needs. */
export const STORAGE: AudioStorage = {
  receive: () => Promise.reject(new Error('uploads are not simulated')),
  localPath: async (key) => ({ path: key, [Symbol.asyncDispose]: async () => undefined }),
  read: async () => null,
  isComplete: async () => true,
  copy: async (key) => key,
  remove: async () => undefined,
  async *listOlderThan() {},
  freeBytes: async () => Number.MAX_SAFE_INTEGER,
  openScratch: () => Promise.reject(new Error('no files are kept here')),
};
