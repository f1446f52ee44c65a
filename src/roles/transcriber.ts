import { openStorage } from '../audio/open-storage.ts';
import { startTranscriber } from '../jobs/worker.ts';
import { jobMetrics, snapshotMetrics } from '../metrics.ts';
import { watchEngines } from './engine-watch.ts';
import type { OpeningEngines } from './engines.ts';
import type { RoleContext, RunningRole } from './process.ts';

export const maxConnections = 10;

/** Turns queued jobs into transcripts. Without an engine it waits for one, and says in /readyz what to do. */
export async function start(
  context: RoleContext,
  { metrics, stopping, opening }: OpeningEngines,
): Promise<RunningRole> {
  const { config, db, log, clock, report } = context;
  const storage = await openStorage(config);

  const running = opening.then(async (opened) => {
    if (!opened) return null;
    const { engines, watching } = watchEngines(opened, { clock, log, report, signal: stopping.signal });
    const worker = await startTranscriber({
      db,
      config,
      engines,
      storage,
      tools: { folder: config.toolsDir },
      clock,
      log,
      metrics: jobMetrics(metrics),
    });
    return { engines, worker, watching };
  });
  // A failure here is ours: the process ends, its log says why, and the parent starts it again.
  running.catch((error: unknown) => {
    log.error({ err: error }, 'transcriber did not start');
    process.exit(1);
  });

  return {
    metrics: () => snapshotMetrics(metrics),
    async stop() {
      stopping.abort();
      const started = await running;
      await started?.worker.stop();
      await started?.watching;
      await started?.engines.lite[Symbol.asyncDispose]();
      if (started && started.engines.pro !== started.engines.lite) await started.engines.pro[Symbol.asyncDispose]();
    },
  };
}
