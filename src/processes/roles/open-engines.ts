import { dataPaths } from '../../config/settings.ts';
import type { Engine } from '../../engines/engine.ts';
import type { EngineOptions } from '../../engines/engine-options.ts';
import type { EngineSpec } from '../../engines/engine-spec.ts';
import type { OpenedEngine } from '../../engines/registry/open.ts';
import { openWorkingEngine } from '../../engines/registry/open.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { openMetrics } from '../../platform/metrics.ts';
import { engineStatus } from './engine-health.ts';
import type { EarlyContext } from './role.ts';

// An engine may be installed, or a remote one come up, while the service runs.
const RETRY_ENGINE_MS = 5_000;
// A process is started within a few ms.
const HEAD_START_MS = 100;

export type Engines = { lite: Engine; pro: Engine };
type Hooks = { onRestart(engine: string): void; onBegun(): void };
export type OpeningEngines = { metrics: Metrics; stopping: AbortController; opening: Promise<Engines | null> };

/**
 * Loads the engines: a matter of a second or more, in which the database starts and the transcriber's code is loaded.
 * Resolves once their first process is on its way, which the loading of code would hold up.
 */
export async function prepare(context: EarlyContext): Promise<OpeningEngines> {
  const metrics = openMetrics();
  const stopping = new AbortController();
  const onRestart = (engine: string) => metrics.engineRestarts.inc({ engine });
  const begun = Promise.withResolvers<void>();
  const opening = untilEngines(context, { onRestart, onBegun: begun.resolve }, stopping.signal);
  await Promise.race([begun.promise, context.clock.sleep(HEAD_START_MS)]);
  return { metrics, stopping, opening };
}

/** The engines of both plans, once each has really decoded something; null when the stop comes first. */
async function untilEngines(context: EarlyContext, hooks: Hooks, signal: AbortSignal): Promise<Engines | null> {
  let lastReason = '';
  while (!signal.aborted) {
    try {
      return await openEngines(context, hooks);
    } catch (error) {
      const reason = (error as Error).message;
      context.report(engineStatus([error]));
      if (reason !== lastReason) context.log.warn({ err: error }, 'no engine yet; jobs wait');
      lastReason = reason;
      await context.clock.sleep(RETRY_ENGINE_MS, signal);
    }
  }
  return null;
}

async function openEngines({ config, log }: EarlyContext, hooks: Hooks): Promise<Engines> {
  const options: EngineOptions = {
    modelsDir: dataPaths(config.dataDir).models,
    slots: config.transcribeConcurrency,
    threadsPerSlot: 1,
    apiKey: config.engineApiKey,
    tools: { folder: config.toolsDir },
    log,
    ...hooks,
  };
  const lite = await openWorkingEngine(config.engineLite, options);
  // Plans that name the same engine share its processes: a second model would only cost memory.
  if ([config.engineLite, lite.spec].some((spec) => isSame(spec, config.enginePro))) return shared(lite);
  try {
    const pro = await openWorkingEngine(config.enginePro, options);
    if (!isSame(pro.spec, lite.spec)) return { lite: lite.engine, pro: pro.engine };
    await pro.engine[Symbol.asyncDispose]();
    return shared(lite);
  } catch (error) {
    await lite.engine[Symbol.asyncDispose]();
    throw error;
  }
}

function shared({ engine }: OpenedEngine): Engines {
  return { lite: engine, pro: engine };
}

function isSame(one: EngineSpec | null, other: EngineSpec | null): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
