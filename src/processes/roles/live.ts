import type { AudioStorage } from '../../audio/storage/storage.ts';
import { dataPaths } from '../../config/settings.ts';
import { openLiveEngine } from '../../engines/registry/open-live.ts';
import { renewLeases } from '../../jobs/queue/lease-store.ts';
import { LeaseKeeper } from '../../jobs/work/lease-keeper.ts';
import { LiveEngines } from '../../live/live-engines.ts';
import { LiveHost } from '../../live/live-host.ts';
import { LiveJournal } from '../../live/session/journal.ts';
import type { LiveClaim } from '../../live/session/running-session.ts';
import { jobMetrics, liveMetrics } from '../../platform/metrics.ts';
import { openSemaphore } from '../../platform/semaphore.ts';
import type { Slices } from '../../platform/slices.ts';
import { BOUNDS } from '../../rules/bounds.ts';
import type { RoleContext } from './role.ts';

type Context = Pick<RoleContext, 'config' | 'order' | 'db' | 'log' | 'clock' | 'metrics' | 'tracer'> & {
  slices: Slices;
};

const ENDS_AT_ONCE = 4;

/** The live sessions of the HTTP process. Engines are started by the first session. */
export function openLive(context: Context, storage: AudioStorage) {
  const { config, order, db, log, clock, metrics, slices } = context;
  const leases = new LeaseKeeper<LiveClaim>(context, (claims, shard) =>
    renewLeases(db, claims, { shard, leaseMs: BOUNDS.leaseMs, now: null }),
  );
  const options = {
    modelsDir: dataPaths(config.dataDir).models,
    slots: config.transcribeConcurrency,
    threadsPerSlot: 1,
    apiKey: config.engineApiKey,
    tools: { folder: config.toolsDir },
    log,
    clock,
    tracer: context.tracer,
    stepSeconds: config.liveStepSeconds,
    onRestart: (engine: string) => metrics.engineRestarts.inc({ engine }),
    onMessages: (engine: string) => metrics.engineMessages.inc({ engine }),
  };
  const host = new LiveHost({
    config,
    db,
    clock,
    log,
    storage,
    jobMetrics: jobMetrics(metrics),
    liveMetrics: liveMetrics(metrics),
    journal: new LiveJournal(context),
    leases,
    slices,
    ends: openSemaphore(ENDS_AT_ONCE),
    engines: new LiveEngines(context, (spec) => openLiveEngine(spec, options)),
    holder: order.holder,
  });
  return {
    host,
    measure() {
      metrics.liveSessions.set(host.sessions);
      metrics.liveBehindSeconds.set(host.behindSeconds);
    },
    async close() {
      await host.close();
      await leases.close();
    },
  };
}
