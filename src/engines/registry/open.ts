import { CATALOGUE } from '../../models/catalogue.ts';
import { pulledModels } from '../../models/folder.ts';
import { isSpeechModel } from '../../models/model.ts';
import { findProgram } from '../../platform/tools.ts';
import { type Engine, EngineError } from '../engine.ts';
import type { EngineOptions } from '../engine-options.ts';
import type { EngineSpec } from '../engine-spec.ts';
import { openSherpa } from '../sherpa/sherpa.ts';

export type OpenedEngine = { spec: EngineSpec; engine: Engine };

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
 * The engine that `wanted` names; for null the best one that works: the first model that loads in the order of
 * rankModels. It has transcribed a test signal, because a model file may be damaged.
 * @throws EngineError  that says what to install or repair
 */
export async function openWorkingEngine(wanted: EngineSpec | null, options: EngineOptions): Promise<OpenedEngine> {
  const specs = wanted !== null ? [wanted] : await bestSpecs(options);
  return await openFirstWorking(specs, options, (spec) => openEngine(spec, options));
}

/** What is tried where no engine is named, best first. @throws EngineError  when the folder of models is unreadable */
export async function bestSpecs({ modelsDir }: EngineOptions): Promise<EngineSpec[]> {
  return rankModels(await readableModels(modelsDir)).map((model) => ({ kind: 'sherpa-onnx', model }));
}

/**
 * Opens and warms up the engine of the first spec that works. The only spec has to.
 * @throws EngineError  that says what to install or repair
 */
export async function openFirstWorking<Opened extends AsyncDisposable & Pick<Engine, 'warmUp'>>(
  specs: readonly EngineSpec[],
  { tools, log }: EngineOptions,
  open: (spec: EngineSpec) => Promise<Opened>,
): Promise<{ spec: EngineSpec; engine: Opened }> {
  if (findProgram(tools, 'ffmpeg') === null || findProgram(tools, 'ffprobe') === null) {
    throw new EngineError('engine_error', 'ffmpeg is not installed. Type: sudo apt-get install ffmpeg', {
      failure: { kind: 'start' },
    });
  }
  for (const [index, spec] of specs.entries()) {
    try {
      return { spec, engine: await openWarm(spec, open) };
    } catch (error) {
      if (!(error instanceof EngineError) || index === specs.length - 1) throw error;
      log.warn({ engine: spec, reason: error.message }, 'engine skipped');
    }
  }
  throw new EngineError('engine_error', 'No model yet. To fetch one: verbatim models pull moonshine-tiny', {
    failure: { kind: 'model' },
  });
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

async function openWarm<Opened extends AsyncDisposable & Pick<Engine, 'warmUp'>>(
  spec: EngineSpec,
  open: (spec: EngineSpec) => Promise<Opened>,
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
