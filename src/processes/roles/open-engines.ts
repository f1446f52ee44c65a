import { dataPaths } from '../../config/settings.ts';
import type { Engine } from '../../engines/engine.ts';
import type { EngineOptions } from '../../engines/engine-options.ts';
import type { EngineSpec } from '../../engines/engine-spec.ts';
import { type OpenedEngine, openWorkingEngine } from '../../engines/registry/open.ts';
import { engineStatus } from './engine-health.ts';
import type { RoleContext } from './role.ts';

// An engine may be installed, or a remote one come up, while the service runs.
const RETRY_ENGINE_MS = 5_000;

export type Engines = { lite: Engine; pro: Engine };
type Hooks = { onRestart(engine: string): void };
type Context = Pick<RoleContext, 'config' | 'log' | 'clock' | 'report'>;

/** The engines of both plans, after each has decoded some audio; null if the signal aborts before. */
export async function waitForEngines(context: Context, hooks: Hooks, signal: AbortSignal): Promise<Engines | null> {
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

async function openEngines({ config, log }: Pick<Context, 'config' | 'log'>, hooks: Hooks): Promise<Engines> {
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
