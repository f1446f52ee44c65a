import { openStorage } from '../audio/open-storage.ts';
import { dataPaths } from '../config.ts';
import type { EngineSpec } from '../config-values.ts';
import type { Engine } from '../engines/engine.ts';
import type { EngineOptions } from '../engines/open.ts';
import { chooseEngine, openEngine } from '../engines/open.ts';
import { startTranscriber } from '../jobs/worker.ts';
import type { Metrics } from '../metrics.ts';
import { jobMetrics, openMetrics, snapshotMetrics } from '../metrics.ts';
import { watchEngines } from './engine-watch.ts';
import type { EarlyContext, RoleContext, RunningRole } from './process.ts';

export const maxConnections = 10;

// An engine may be installed, or a remote one come up, while the service runs.
const RETRY_ENGINE_MS = 5_000;

type Engines = { lite: Engine; pro: Engine };
type Prepared = { metrics: Metrics; stopping: AbortController; opening: Promise<Engines | null> };

/** Loads the engines: a matter of a second or more, in which the database starts. */
export function prepare(context: EarlyContext): Prepared {
  const metrics = openMetrics();
  const stopping = new AbortController();
  const onRestart = (engine: string) => metrics.engineRestarts.inc({ engine });
  return { metrics, stopping, opening: untilEngines(context, onRestart, stopping.signal) };
}

/** Turns queued jobs into transcripts. Without an engine it waits for one, and says in /readyz what to do. */
export async function start(context: RoleContext, { metrics, stopping, opening }: Prepared): Promise<RunningRole> {
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

/** The engines of both plans, once each has really decoded something; null when the stop comes first. */
async function untilEngines(
  context: EarlyContext,
  onRestart: (engine: string) => void,
  signal: AbortSignal,
): Promise<Engines | null> {
  let lastReason = '';
  while (!signal.aborted) {
    try {
      return await openEngines(context, onRestart);
    } catch (error) {
      const reason = (error as Error).message;
      context.report({ ready: false, reasons: [reason] });
      if (reason !== lastReason) context.log.warn({ err: error }, 'no engine yet; jobs wait');
      lastReason = reason;
      await context.clock.sleep(RETRY_ENGINE_MS, signal);
    }
  }
  return null;
}

async function openEngines({ config, log }: EarlyContext, onRestart: (engine: string) => void): Promise<Engines> {
  const options: EngineOptions = {
    modelsDir: dataPaths(config.dataDir).models,
    slots: config.transcribeConcurrency,
    threadsPerSlot: 1,
    apiKey: config.engineApiKey,
    tools: { folder: config.toolsDir },
    log,
    onRestart,
  };
  const liteSpec = await specOf(config.engineLite, options);
  const proSpec = await specOf(config.enginePro, options);
  const lite = await openWarm(liteSpec, options);
  // Plans that name the same engine share its processes: a second model would only cost memory.
  if (JSON.stringify(liteSpec) === JSON.stringify(proSpec)) return { lite, pro: lite };
  try {
    return { lite, pro: await openWarm(proSpec, options) };
  } catch (error) {
    await lite[Symbol.asyncDispose]();
    throw error;
  }
}

async function specOf(wanted: EngineSpec | null, options: EngineOptions): Promise<EngineSpec> {
  const choice = await chooseEngine(wanted, options);
  if (choice.kind === 'none') throw new Error(choice.message);
  return choice.spec;
}

async function openWarm(spec: EngineSpec, options: EngineOptions): Promise<Engine> {
  const engine = await openEngine(spec, options);
  try {
    await engine.warmUp();
    return engine;
  } catch (error) {
    await engine[Symbol.asyncDispose]();
    throw error;
  }
}
