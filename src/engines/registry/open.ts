import { CATALOGUE } from '../../models/catalogue.ts';
import { pulledModels } from '../../models/folder.ts';
import { isSpeechModel } from '../../models/model.ts';
import { findProgram } from '../../platform/tools.ts';
import { modelsInUse } from '../../rules/jobs/choose-model.ts';
import { type Engine, EngineError } from '../engine.ts';
import type { EngineOptions } from '../engine-options.ts';
import type { EngineSpec } from '../engine-spec.ts';
import { findSherpaModel, openSherpa } from '../sherpa/sherpa.ts';
import { modelsTogether } from './models-together.ts';

export type OpenedEngine = { spec: EngineSpec | null; engine: Engine };

/**
 * The engine, with its processes starting; `warmUp` resolves when they are ready.
 * @throws EngineError  that says what to install or repair, when the engine cannot start
 */
export async function openEngine(spec: EngineSpec, options: EngineOptions): Promise<Engine> {
  switch (spec.kind) {
    case 'sherpa-onnx':
      return openSherpa(spec.model, options);
    case 'openai': {
      // Imported only when used: its HTTP client adds 0.1 s to the start.
      const { openOpenai } = await import('../openai/openai.ts');
      return openOpenai({ ...spec, apiKey: options.apiKey, slots: options.slots });
    }
  }
}

/**
 * The engine that `wanted` names; for null the models that serve together (`modelsInUse`), without those that do not
 * work. Each has transcribed a test signal, because a model file may be damaged.
 * @returns  with a null spec where there are several models
 * @throws EngineError  that says what to install or repair
 */
export async function openWorkingEngine(wanted: EngineSpec | null, options: EngineOptions): Promise<OpenedEngine> {
  if (wanted !== null) return await openFirstWorking([wanted], options, (spec) => openEngine(spec, options));
  requireDecoder(options);
  return await openTogether(await installedModels(options.modelsDir), options, new Map());
}

/** @property languages  the model's own codes; null when unknown */
type InstalledModel = { spec: EngineSpec; languages: readonly string[] | null };

/** The models for jobs, best first. @throws EngineError  when the folder of models is unreadable */
export async function installedModels(modelsDir: string): Promise<InstalledModel[]> {
  const names = rankModels(await readableModels(modelsDir));
  return await Promise.all(
    names.map(async (model) => ({
      spec: { kind: 'sherpa-onnx', model },
      languages: await languagesOf(model, modelsDir),
    })),
  );
}

async function languagesOf(model: string, modelsDir: string): Promise<readonly string[] | null> {
  return (await findSherpaModel(model, modelsDir).catch(() => null))?.found.languages ?? null;
}

/** Opens the models that the rule needs, and chooses again without one that does not work. */
async function openTogether(
  models: readonly InstalledModel[],
  options: EngineOptions,
  opened: Map<EngineSpec, Engine>,
): Promise<OpenedEngine> {
  if (models.length === 0) throw noModel();
  const wanted = modelsInUse(models).map(({ spec }) => spec);
  for (const spec of wanted) {
    if (opened.has(spec)) continue;
    try {
      opened.set(spec, await openWarm(spec, (one) => openEngine(one, options)));
    } catch (error) {
      if (error instanceof EngineError && models.length > 1) {
        options.log.warn({ engine: spec, reason: error.message }, 'engine skipped');
        return await openTogether(
          models.filter((model) => model.spec !== spec),
          options,
          opened,
        );
      }
      await Promise.all([...opened.values()].map((engine) => engine[Symbol.asyncDispose]()));
      throw error;
    }
  }
  return {
    spec: wanted.length > 1 ? null : wanted[0]!,
    engine: modelsTogether(wanted.map((spec) => opened.get(spec)!)),
  };
}

/**
 * Opens and warms up the engine of the first spec that works. The only spec has to.
 * @throws EngineError  that says what to install or repair
 */
export async function openFirstWorking<Spec, Opened extends AsyncDisposable & Pick<Engine, 'warmUp'>>(
  specs: readonly Spec[],
  options: Pick<EngineOptions, 'tools' | 'log'>,
  open: (spec: Spec) => Promise<Opened>,
): Promise<{ spec: Spec; engine: Opened }> {
  requireDecoder(options);
  for (const [index, spec] of specs.entries()) {
    try {
      return { spec, engine: await openWarm(spec, open) };
    } catch (error) {
      if (!(error instanceof EngineError) || index === specs.length - 1) throw error;
      options.log.warn({ engine: spec, reason: error.message }, 'engine skipped');
    }
  }
  throw noModel();
}

/** @throws EngineError  that says what to install */
function requireDecoder({ tools }: Pick<EngineOptions, 'tools'>): void {
  if (findProgram(tools, 'ffmpeg') !== null && findProgram(tools, 'ffprobe') !== null) return;
  throw new EngineError('engine_error', 'ffmpeg is not installed. Type: sudo apt-get install ffmpeg', {
    failure: { kind: 'start' },
  });
}

function noModel(): EngineError {
  const message = 'No model yet. To fetch one: verbatim models pull moonshine-tiny';
  return new EngineError('engine_error', message, { failure: { kind: 'model' } });
}

/** @throws EngineError  when the folder exists and is unreadable */
async function readableModels(modelsDir: string): Promise<string[]> {
  try {
    return await pulledModels(modelsDir);
  } catch (cause) {
    throw new EngineError('engine_error', (cause as Error).message, { cause, failure: { kind: 'start' } });
  }
}

/**
 * Models for jobs, or for live sessions, in the order of the catalogue, best first;
 * then models that are not in it, by name.
 */
export function rankModels(names: string[], use: 'jobs' | 'live' = 'jobs'): string[] {
  const known = CATALOGUE.filter(({ name }) => names.includes(name));
  const fitting = known.filter((model) => (use === 'jobs' ? isSpeechModel(model) : model.family === 'streaming'));
  const others = names.filter((name) => !known.some((one) => one.name === name));
  return [...fitting.map(({ name }) => name), ...others.sort()];
}

async function openWarm<Spec, Opened extends AsyncDisposable & Pick<Engine, 'warmUp'>>(
  spec: Spec,
  open: (spec: Spec) => Promise<Opened>,
): Promise<Opened> {
  const engine = await open(spec);
  try {
    await engine.warmUp();
    return engine;
  } catch (error) {
    await engine[Symbol.asyncDispose]();
    throw error;
  }
}
