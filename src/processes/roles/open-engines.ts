import { dataPaths } from '../../config/settings.ts';
import { type Engine, EngineError } from '../../engines/engine.ts';
import type { EngineOptions } from '../../engines/engine-options.ts';
import type { EngineSpec } from '../../engines/engine-spec.ts';
import { EnginePresence } from '../../engines/presence/engine-presence.ts';
import { LazyEngine } from '../../engines/presence/lazy-engine.ts';
import { type OpenedEngine, openWorkingEngine } from '../../engines/registry/open.ts';
import type { ModelWatch } from '../../models/pull/model-watch.ts';
import type { Plan } from '../../rules/accounts/plan.ts';
import type { RoleContext } from './role.ts';

/** The engines of both plans; the same one where the plans name the same. */
export type Engines = Record<Plan, EnginePresence>;
type Hooks = { onRestart(engine: string): void; onMessages(engine: string): void };
type Context = Pick<RoleContext, 'config' | 'log' | 'clock' | 'tracer'>;

/**
 * The engines of both plans. Each is opened by its first probe: until then it is away, as one that does not work.
 * @param models  say why there is no model yet
 */
export function openEngines({ config, log, clock, tracer }: Context, models: ModelWatch, hooks: Hooks): Engines {
  const options: EngineOptions = {
    modelsDir: dataPaths(config.dataDir).models,
    slots: config.transcribeConcurrency,
    threadsPerSlot: 1,
    apiKey: config.engineApiKey,
    tools: { folder: config.toolsDir },
    log,
    ...hooks,
  };
  const opened: OpenedEngine[] = [];
  const present = (wanted: EngineSpec | null) => {
    const open = () => openShared(wanted, options, opened).catch((error) => Promise.reject(explained(error, models)));
    const engine = new LazyEngine({ name: nameOf(wanted), slots: options.slots, open });
    return new EnginePresence(engine, { clock, log, tracer, absence: { sinceMs: clock.now(), cause: isStarting() } });
  };
  const lite = present(config.engineLite);
  return { lite, pro: isSame(config.engineLite, config.enginePro) ? lite : present(config.enginePro) };
}

/** While the first model is fetched, how far that is. */
function explained(error: unknown, { reason }: ModelWatch): unknown {
  if (!(error instanceof EngineError) || error.failure.kind !== 'model' || reason === null) return error;
  return new EngineError(error.type, reason, { cause: error, failure: error.failure });
}

/** Plans that get the same engine share its processes: a second model would only cost memory. */
async function openShared(wanted: EngineSpec | null, options: EngineOptions, opened: OpenedEngine[]): Promise<Engine> {
  const named = opened.find(({ spec }) => isSame(spec, wanted));
  if (named) return named.engine;
  const working = await openWorkingEngine(wanted, options);
  const same = opened.find(({ spec }) => isSame(spec, working.spec));
  if (same) await working.engine[Symbol.asyncDispose]();
  else opened.push(working);
  return (same ?? working).engine;
}

function isStarting(): EngineError {
  return new EngineError('engine_error', 'The speech engine is starting.', { failure: { kind: 'start' } });
}

function nameOf(spec: EngineSpec | null): string {
  if (spec === null) return 'none';
  return 'model' in spec && spec.model !== null ? spec.model : spec.kind;
}

function isSame(one: EngineSpec | null, other: EngineSpec | null): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
