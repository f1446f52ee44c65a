import { CATALOGUE } from '../../models/catalogue.ts';
import { pulledModels } from '../../models/folder.ts';
import { isSpeechModel } from '../../models/model.ts';
import { findProgram } from '../../platform/tools.ts';
import { type Engine, EngineError } from '../engine.ts';
import type { EngineOptions } from '../engine-options.ts';
import type { EngineSpec } from '../engine-spec.ts';
import { INSTALL_COMMAND, openPocketsphinx } from '../pocketsphinx/pocketsphinx.ts';
import { findPocketsphinx } from '../pocketsphinx/pocketsphinx-files.ts';
import { openSherpa } from '../sherpa/sherpa.ts';

export type OpenedEngine = { spec: EngineSpec; engine: Engine };

/**
 * The engine, with its processes starting; `warmUp` resolves when they are ready.
 * @throws EngineError  that says what to install or repair, when the engine cannot start
 */
export async function openEngine(spec: EngineSpec, options: EngineOptions): Promise<Engine> {
  switch (spec.kind) {
    case 'pocketsphinx':
      return openPocketsphinx(options);
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
 * The engine that `wanted` names; for null the best one that works: the first model that loads in the order of rankModels,
 * else pocketsphinx. It has transcribed a test signal, because a model file may be damaged.
 * @throws EngineError  that says what to install or repair
 */
export async function openWorkingEngine(wanted: EngineSpec | null, options: EngineOptions): Promise<OpenedEngine> {
  if (findProgram(options.tools, 'ffmpeg') === null || findProgram(options.tools, 'ffprobe') === null) {
    throw new EngineError('engine_error', `ffmpeg is not installed. Type: ${INSTALL_COMMAND}`);
  }
  if (wanted !== null) return await openWarm(wanted, options);
  for (const model of rankModels(await readableModels(options.modelsDir))) {
    try {
      return await openWarm({ kind: 'sherpa-onnx', model }, options);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      options.log.warn({ model, reason: error.message }, 'model skipped');
    }
  }
  if (findPocketsphinx(options.tools)) return await openWarm({ kind: 'pocketsphinx' }, options);
  throw new EngineError('engine_error', `There is no speech engine. Type: ${INSTALL_COMMAND}`);
}

/** @throws EngineError  when the folder exists and is unreadable */
async function readableModels(modelsDir: string): Promise<string[]> {
  try {
    return await pulledModels(modelsDir);
  } catch (cause) {
    throw new EngineError('engine_error', (cause as Error).message, { cause });
  }
}

/** Speech models in the order of the catalogue, best first, then models that are not in it, by name. */
export function rankModels(names: string[]): string[] {
  const known = CATALOGUE.filter(({ name }) => names.includes(name));
  const speechModels = known.filter(isSpeechModel).map(({ name }) => name);
  return [...speechModels, ...names.filter((name) => !known.some((one) => one.name === name)).sort()];
}

async function openWarm(spec: EngineSpec, options: EngineOptions): Promise<OpenedEngine> {
  const engine = await openEngine(spec, options);
  try {
    await engine.warmUp();
    return { spec, engine };
  } catch (error) {
    await engine[Symbol.asyncDispose]();
    throw error;
  }
}
