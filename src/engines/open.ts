import type { EngineSpec } from '../config-values.ts';
import type { Log } from '../log.ts';
import { CATALOGUE } from '../models/catalogue.ts';
import { pulledModels } from '../models/folder.ts';
import type { ToolPaths } from '../runtime/tools.ts';
import { findProgram } from '../runtime/tools.ts';
import type { Engine } from './engine.ts';
import { EngineError } from './engine.ts';
import { INSTALL_COMMAND, openPocketsphinx } from './pocketsphinx.ts';
import { findPocketsphinx } from './pocketsphinx-files.ts';
import { openSherpa } from './sherpa.ts';

export type EngineOptions = {
  /** Folder of model folders. */
  modelsDir: string;
  /** Pieces transcribed at once. */
  slots: number;
  threadsPerSlot: number;
  /** Sent to a remote engine as a bearer token. */
  apiKey: string | null;
  tools: ToolPaths;
  log: Log;
  /** Called for each engine process that ended unasked, with the engine's name; another one takes its place. */
  onRestart?: (name: string) => void;
};

export type EngineChoice = { kind: 'found'; spec: EngineSpec } | { kind: 'none'; message: string };

/**
 * The engine, with its processes on their way; `warmUp` tells when they can work.
 * @throws EngineError  saying what to install or mend, when the engine cannot start
 */
export async function openEngine(spec: EngineSpec, options: EngineOptions): Promise<Engine> {
  switch (spec.kind) {
    case 'pocketsphinx':
      return openPocketsphinx(options);
    case 'sherpa-onnx':
      return openSherpa(spec.model, options);
    case 'openai': {
      // Loaded for those who use it: its HTTP client costs a tenth of a second of every start.
      const { openOpenai } = await import('./openai.ts');
      return openOpenai({ ...spec, apiKey: options.apiKey, slots: options.slots });
    }
  }
}

/**
 * The engine that was asked for, if it can start; for null the best one that can: the first model that loads, best ones
 * first, else pocketsphinx. With none, the message says which command to type.
 */
export async function chooseEngine(spec: EngineSpec | null, options: EngineOptions): Promise<EngineChoice> {
  if (findProgram(options.tools, 'ffmpeg') === null || findProgram(options.tools, 'ffprobe') === null) {
    return { kind: 'none', message: `ffmpeg is not installed. Type: ${INSTALL_COMMAND}` };
  }
  if (spec !== null) return chooseGiven(spec, options);
  for (const model of rankModels(await pulledModels(options.modelsDir))) {
    const choice = await chooseGiven({ kind: 'sherpa-onnx', model }, options);
    if (choice.kind === 'found') return choice;
    options.log.warn({ model, reason: choice.message }, 'model passed over');
  }
  if (findPocketsphinx(options.tools)) return { kind: 'found', spec: { kind: 'pocketsphinx' } };
  return { kind: 'none', message: `There is no speech engine. Type: ${INSTALL_COMMAND}` };
}

/** Recognisers in the order of the catalogue, best first; then those that it does not know, by name. */
export function rankModels(names: string[]): string[] {
  const known = CATALOGUE.filter(({ name }) => names.includes(name));
  const recognisers = known.filter(({ family }) => family !== 'vad').map(({ name }) => name);
  return [...recognisers, ...names.filter((name) => !known.some((one) => one.name === name)).sort()];
}

/** A local model is really loaded, since a file that looks whole may not be. A remote server may come up later than we do. */
async function chooseGiven(spec: EngineSpec, options: EngineOptions): Promise<EngineChoice> {
  try {
    if (spec.kind === 'openai') return { kind: 'found', spec };
    if (spec.kind === 'pocketsphinx' && findPocketsphinx(options.tools)) return { kind: 'found', spec };
    await using engine = await openEngine(spec, { ...options, slots: 1 });
    await engine.warmUp();
    return { kind: 'found', spec };
  } catch (error) {
    if (error instanceof EngineError) return { kind: 'none', message: error.message };
    throw error;
  }
}
