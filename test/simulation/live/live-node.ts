import type { Runtime } from '../../../src/db/runtime.ts';
import { EngineError } from '../../../src/engines/engine.ts';
import type { LiveDecoder, LiveEngine } from '../../../src/engines/live/live-engine.ts';
import { renewLeases } from '../../../src/jobs/queue/lease-store.ts';
import { LeaseKeeper } from '../../../src/jobs/work/lease-keeper.ts';
import { LiveEngines } from '../../../src/live/live-engines.ts';
import { type LiveApi, LiveHost } from '../../../src/live/live-host.ts';
import { sweepLiveSessions } from '../../../src/live/session/end-live.ts';
import { LiveJournal } from '../../../src/live/session/journal.ts';
import type { LiveClaim } from '../../../src/live/session/running-session.ts';
import type { Clock } from '../../../src/platform/clock.ts';
import type { Log } from '../../../src/platform/log.ts';
import { openSemaphore } from '../../../src/platform/semaphore.ts';
import { BOUNDS } from '../../../src/rules/bounds.ts';
import { openStubDecoder } from '../../fixtures/live.ts';
import { UNCOUNTED_LIVE } from '../../fixtures/uncounted.ts';
import { type Environment, SETTINGS, STORAGE } from '../environment.ts';
import { SIMULATED_SLICES } from '../fakes/simulated-slices.ts';
import type { Actor } from '../simulator.ts';

/** An HTTP process to which clients of live sessions connect. It erases what ended sessions have left, too. */
export type LiveNode = { api: LiveApi; stop(): Promise<void> };

const SWEEP_EVERY_MS = 5_000;
const DECODING_MS = 900;
const ENGINE_FAILS = 0.05;

export function startLiveNode(
  actor: Actor,
  { holder, clock, log }: { holder: string; clock: Clock; log: Log },
  environment: Environment,
): LiveNode {
  const db = environment.server.open(actor);
  const runtime = { db, config: SETTINGS, clock, log, storage: STORAGE };
  const leases = new LeaseKeeper<LiveClaim>(runtime, (claims, shard) =>
    renewLeases(db, claims, { shard, leaseMs: BOUNDS.leaseMs, now: null }),
  );
  const engines = new LiveEngines(runtime, async () => engineOf(runtime, environment));
  const host = new LiveHost({
    ...UNCOUNTED_LIVE,
    ...runtime,
    journal: new LiveJournal(runtime),
    leases,
    ends: openSemaphore(4),
    slices: SIMULATED_SLICES,
    engines,
    holder,
  });
  const stopping = new AbortController();
  void sweepUntil(stopping.signal, runtime);
  return {
    api: { ...runtime, ...UNCOUNTED_LIVE, host } as unknown as LiveApi,
    async stop() {
      stopping.abort(null);
      await host.close();
      await leases.close();
    },
  };
}

async function sweepUntil(signal: AbortSignal, runtime: Runtime): Promise<void> {
  while (!signal.aborted) {
    await runtime.clock.sleep(SWEEP_EVERY_MS, signal);
    // The next time finds what is left.
    await sweepLiveSessions({ ...runtime, ...UNCOUNTED_LIVE, storage: STORAGE }).catch(() => undefined);
  }
}

/** The text of a segment depends on all of its samples and on nothing else. */
function engineOf({ clock }: Runtime, { simulator: { random } }: Environment): LiveEngine {
  const open = (): LiveDecoder => {
    const decoder = openStubDecoder();
    return {
      ...decoder,
      segment(onPartial) {
        const segment = decoder.segment(onPartial);
        return {
          ...segment,
          async end(lengthSeconds) {
            await clock.sleep(DECODING_MS * random.next());
            if (random.next() < ENGINE_FAILS) throw new EngineError('engine_error', 'The engine failed.');
            return await segment.end(lengthSeconds);
          },
        };
      },
    };
  };
  return {
    name: 'simulated',
    languages: null,
    features: [],
    licence: null,
    warmUp: async () => undefined,
    capacity: () => 100,
    open,
    [Symbol.asyncDispose]: async () => undefined,
  };
}
