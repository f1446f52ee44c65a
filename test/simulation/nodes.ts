import { type Engine, EngineError, type Pcm, SAMPLE_RATE, type Transcript } from '../../src/engines/engine.ts';
import { EnginePresence } from '../../src/engines/presence/engine-presence.ts';
import { startTranscriber } from '../../src/jobs/execution/worker.ts';
import { returnJobsOf } from '../../src/jobs/queue/lease-store.ts';
import { endOrphan } from '../../src/live/session/orphan.ts';
import { type Clock, makeId } from '../../src/platform/clock.ts';
import type { EngineFailure } from '../../src/rules/fault.ts';
import { startDeliverer } from '../../src/webhooks/deliveries/worker.ts';
import { endDeliverers } from '../../src/webhooks/ownership/ownership-store.ts';
import { stubText } from '../fixtures/live.ts';
import { UNCOUNTED } from '../fixtures/uncounted.ts';
import {
  clockOf,
  die,
  type Environment,
  logOf,
  newActor,
  onAbort,
  SECRET_BOX,
  SETTINGS,
  STORAGE,
} from './environment.ts';
import { setPoster } from './fakes/post.ts';
import { SIMULATED_SLICES } from './fakes/simulated-slices.ts';
import { type LiveNode, startLiveNode } from './live/live-node.ts';
import type { Actor } from './simulator.ts';

export const SLOTS = ['transcriber-1', 'transcriber-2', 'deliverer-1', 'deliverer-2'] as const;
/** Processes to which clients of live sessions connect. */
export const LIVE_SLOTS = ['live-1', 'live-2'] as const;

/** `live`: of a process to which clients of live sessions connect. */
export type Node = { actor: Actor; holder: string; live: LiveNode | null; stop(): Promise<void> };

const LONGEST_CALL_MS = 8_000;

/** Starts the process of the slot. The simulator's steps drive it. */
export function startNode(slot: string, environment: Environment): Node {
  const holder = `${slot}/${makeId('req')}`;
  const actor = newActor(slot, holder);
  const clock = clockOf(actor, environment.simulator);
  if (slot.startsWith('live')) {
    const live = startLiveNode(actor, { holder, clock, log: logOf(environment) }, environment);
    return { actor, holder, live, stop: () => live.stop() };
  }
  const start = slot.startsWith('deliverer') ? deliverer : transcriber;
  const started = start(actor, holder, clock, environment);
  return {
    actor,
    holder,
    live: null,
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

function deliverer(actor: Actor, holder: string, clock: Clock, environment: Environment) {
  const { server, receivers, simulator } = environment;
  setPoster(receivers.posterFor(actor));
  const ignored = { inc: () => undefined, observe: () => undefined };
  const deliveriesFoundLate = { inc: () => void environment.foundLate++ };
  const names = ['attempts', 'attemptSeconds', 'webhookWarnings', 'webhooksDisabled', 'deliveriesExhausted'];
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
  const engine = new EnginePresence(engineOf(actor, environment), {
    clock,
    log: logOf(environment),
    probe: async () => {
      if (awayOf(actor, environment)) throw failed({ kind: 'connection' });
    },
  });
  void engine.watch(new AbortController().signal);
  return await startTranscriber({
    ...UNCOUNTED,
    db,
    engines: { lite: engine, pro: engine },
    slices: SIMULATED_SLICES,
    storage: STORAGE,
    clock,
    log: logOf(environment),
    // With one place jobs wait in the queue, with several a claim takes many.
    config: { ...SETTINGS, transcribeConcurrency: environment.simulator.random.pick([1, 3]) },
    holder,
    endOrphan,
    tools: { folder: null },
  });
}

/** What the engine of a process does instead of answering; null while it works. */
function awayOf({ slot }: Actor, { enginesAway, simulator }: Environment): EngineFailure | null {
  const away = enginesAway.get(slot);
  return away && simulator.nowMs() < away.untilMs ? away.failure : null;
}

function failed(failure: EngineFailure): EngineError {
  const type = failure.kind === 'timeout' ? 'engine_timeout' : 'engine_error';
  return new EngineError(type, `The engine failed: ${failure.kind}.`, { failure });
}

function engineOf(actor: Actor, environment: Environment): Engine {
  // A piece fails for good after three tries: the engine never fails twice in a row while it is there.
  let hasFailed = false;
  const { simulator, server, calls } = environment;
  return {
    name: 'simulated',
    slots: 2,
    warmUp: async () => undefined,
    async transcribe(pcm, { signal, timeoutMs }) {
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
        const away = awayOf(actor, environment);
        if (away) return reject(failed(away));
        hasFailed = luck < fails && !hasFailed;
        if (hasFailed && luck < fails / 2) return reject(failed({ kind: 'status', status: 500 }));
        if (hasFailed) return resolve(NONSENSE);
        resolve(transcriptOf(pcm, number, luck));
      });
      return await promise;
    },
    async [Symbol.asyncDispose]() {},
  };
}

/** Of silence, which jobs have and live sessions do not, the engine gives nothing at times. */
function transcriptOf(pcm: Pcm, number: number, luck: number): Transcript {
  const isSilent = pcm.every((sample) => sample === 0);
  if (isSilent && luck > 0.45 && luck < 0.5) return { language: null, segments: [] };
  const text = isSilent ? `call ${number}` : `call ${number} of ${stubText(pcm)}`;
  return { language: null, segments: [{ ...WHOLE, text, endSeconds: pcm.length / SAMPLE_RATE }] };
}

const WHOLE = { startSeconds: 0, confidence: null, words: [] };
const NONSENSE: Transcript = {
  language: 'nonsense',
  segments: [{ ...WHOLE, text: 'the \u0000 \ud800 '.repeat(200), startSeconds: 1e9, endSeconds: Number.NaN }],
};
