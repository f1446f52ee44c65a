import type { AudioStorage } from '../../src/audio/storage/storage.ts';
import { readConfig } from '../../src/config/settings.ts';
import { type Engine, EngineError } from '../../src/engines/engine.ts';
import { startTranscriber } from '../../src/jobs/execution/worker.ts';
import { returnJobsOf } from '../../src/jobs/queue/lease-store.ts';
import { type Clock, makeId } from '../../src/platform/clock.ts';
import { type Log, openLog } from '../../src/platform/log.ts';
import { startDeliverer } from '../../src/webhooks/deliveries/worker.ts';
import { endDeliverers } from '../../src/webhooks/ownership/ownership-store.ts';
import { openSecretBox } from '../../src/webhooks/secrets/secrets.ts';
import type { SimulatedServer } from './database.ts';
import { setPoster } from './fakes/post.ts';
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
export const SLOTS = ['transcriber-1', 'transcriber-2', 'deliverer-1', 'deliverer-2'] as const;

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
};

export type Node = { actor: Actor; holder: string; stop(): Promise<void> };

// Late polls are realistic on a busy machine, and save most of the simulation's idle steps.
const LATEST_MS = 4_000;
const LONGEST_CALL_MS = 8_000;

/** A log whose errors violate a rule: an error is for what a person must repair. */
function logOf({ unexpected }: Environment): Log {
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

/** Starts the process of the slot. The simulator's steps drive it. */
export function startNode(slot: string, environment: Environment): Node {
  const holder = `${slot}/${makeId('req')}`;
  const actor = newActor(slot, holder);
  const clock = clockOf(actor, environment.simulator);
  const start = slot.startsWith('deliverer') ? deliverer : transcriber;
  const started = start(actor, holder, clock, environment);
  return {
    actor,
    holder,
    async stop() {
      await (await started).stop();
    },
  };
}

/** Ends a process, and notes the time for the checks. */
export async function endProcess(
  { actor, holder }: Node,
  { simulator, server, endedAtMs }: Environment,
): Promise<void> {
  await die(actor);
  endedAtMs.set(holder, Math.floor(simulator.nowMs() + server.clockOffsetMs));
}

/** Releases the leases of a process that has ended, as its parent does. */
export async function releaseLeases(holder: string, { server, parents }: Environment): Promise<void> {
  const actor = newActor('parent');
  parents.push(actor);
  const db = server.open(actor);
  await returnJobsOf(db, { holders: holder, freeStarts: 0 });
  await endDeliverers(db, holder);
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
function onAbort(signal: AbortSignal, { death }: Actor, callback: () => void): () => void {
  signal.addEventListener('abort', callback, { once: true, signal: death.signal });
  return () => signal.removeEventListener('abort', callback);
}

function deliverer(actor: Actor, holder: string, clock: Clock, environment: Environment) {
  const { server, receivers, simulator } = environment;
  setPoster(receivers.posterFor(actor));
  const ignored = { inc: () => undefined, observe: () => undefined };
  const deliveriesFoundLate = { inc: () => void environment.foundLate++ };
  const names = ['attempts', 'attemptSeconds', 'webhookWarnings', 'webhooksDisabled'];
  const metrics = { ...Object.fromEntries(names.map((name) => [name, ignored])), deliveriesFoundLate };
  return startDeliverer({
    db: server.open(actor),
    config: SETTINGS,
    secretBox: SECRET_BOX,
    log: logOf(environment),
    clock,
    holder,
    random: () => simulator.random.next(),
    monotonicMs: () => simulator.nowMs(),
    metrics: metrics as unknown as Parameters<typeof startDeliverer>[0]['metrics'],
  });
}

async function transcriber(actor: Actor, holder: string, clock: Clock, environment: Environment) {
  const db = environment.server.open(actor);
  const engine = engineOf(actor, environment);
  return await startTranscriber({
    db,
    engines: { lite: engine, pro: engine },
    storage: STORAGE,
    clock,
    log: logOf(environment),
    // With one place jobs wait in the queue, with several a claim takes many.
    config: { ...SETTINGS, transcribeConcurrency: environment.simulator.random.pick([1, 3]) },
    holder,
    tools: { folder: null },
  });
}

function engineOf(actor: Actor, environment: Environment): Engine {
  const { simulator, server, calls } = environment;
  return {
    name: 'simulated',
    slots: 2,
    warmUp: async () => undefined,
    async transcribe({ length }, { signal, timeoutMs }) {
      signal.throwIfAborted();
      const number = calls.push({ slot: actor.slot, atMs: simulator.nowMs() + server.clockOffsetMs }) - 1;
      const { fails, crawls: crawling, freezes } = environment.engineFaults;
      if (simulator.random.next() < freezes) {
        environment.frozenCalls++;
        // Until another process has started the job again and has not ended it.
        actor.frozenUntilMs = simulator.nowMs() + 13_000 + simulator.random.next() * 15_000;
      }
      const luck = simulator.random.next();
      const crawls = luck > 1 - crawling;
      const ms = (crawls ? 70_000 : LONGEST_CALL_MS) * simulator.random.next();
      const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<Engine['transcribe']>>>();
      const forget = onAbort(signal, actor, () => reject(signal.reason));
      simulator.after(actor, Math.min(ms, timeoutMs), () => {
        forget();
        if (luck < fails) return reject(new EngineError('engine_error', 'The engine failed.'));
        const segment = {
          text: `call ${number}`,
          startSeconds: 0,
          endSeconds: length / 16_000,
          confidence: null,
          words: [],
        };
        resolve({ language: null, segments: [segment] });
      });
      return await promise;
    },
    async [Symbol.asyncDispose]() {},
  };
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
