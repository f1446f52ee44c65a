import { existsSync } from 'node:fs';
import path from 'node:path';
import { entryPoint } from '../../platform/installation.ts';
import { toolEnvironment } from '../../platform/tools.ts';
import { modelLanguage } from '../../rules/jobs/language.ts';
import { type Calibration, calibrate } from '../calibration/calibrate.ts';
import { keptCalibration } from '../calibration/kept-calibration.ts';
import { licenceOfModel } from '../catalogued-model.ts';
import { type Engine, EngineError } from '../engine.ts';
import type { EngineOptions } from '../engine-options.ts';
import { ChildPool } from '../process/child-pool.ts';
import { localEngine } from '../process/local-engine.ts';
import { takesLanguage } from './sherpa-config.ts';
import { detectSherpaModel, type SherpaModel } from './sherpa-models.ts';

// Loading takes up to twice the size of the file, transcribing 30 s some hundred MB more.
const MEMORY_PER_MODEL_BYTE = 3;
const MEMORY_BASE_BYTES = 2 ** 30;
/** The longest pieces of models that show no lower limit when they are calibrated. */
const PIECE_SECONDS = 30;
// Whisper takes 2,950 frames of 10 ms, and transcribes the last of them badly.
const DEFAULT_PIECE_SECONDS: Record<string, number> = { whisper: 29.4 };

/**
 * An engine for a model that sherpa-onnx can load: Parakeet, Whisper, Moonshine, SenseVoice, zipformer and others.
 * @param model  the name of a folder in `modelsDir`, or the path of another folder
 * @throws EngineError  that says what to do, when the folder holds no such model
 */
export async function openSherpa(model: string, engineOptions: EngineOptions): Promise<Engine> {
  const { name, found, startAdvice } = await findSherpaModel(model, engineOptions.modelsDir);
  if (found.isStreaming) {
    const message = `The model ${name} serves live sessions only: name it in ENGINE_LIVE_LITE or ENGINE_LIVE_PRO.`;
    throw new EngineError('engine_error', message, { failure: { kind: 'start' } });
  }
  const pool = new ChildPool({
    module: entryPoint('sherpa-child'),
    settings: {
      family: found.family,
      modelConfig: { ...found.modelConfig, numThreads: engineOptions.threadsPerSlot, provider: 'cpu', debug: 0 },
    },
    environment: toolEnvironment(engineOptions.tools),
    memoryMaxBytes: memoryMaxBytes(found),
    slots: engineOptions.slots,
    niceness: engineOptions.niceness,
    startAdvice,
    log: engineOptions.log,
    onRestart: () => engineOptions.onRestart?.(name),
    onMessages: () => engineOptions.onMessages?.(name),
  });
  const local = localEngine(name, engineOptions.slots, pool);
  let calibration: Calibration | null = null;
  const engine: Engine = {
    ...local,
    languages: found.languages,
    features: found.features,
    licence: licenceOfModel(name),
    get maxPieceSeconds() {
      return calibration?.maxPieceSeconds ?? DEFAULT_PIECE_SECONDS[found.family] ?? PIECE_SECONDS;
    },
    get isCalibrated() {
      return calibration?.isCalibrated ?? false;
    },
    async warmUp() {
      await local.warmUp();
      calibration ??= await keptCalibration(engineOptions.modelsDir, found.files, () => calibrate(engine));
      const { isCalibrated, maxPieceSeconds } = calibration;
      engineOptions.log.info({ model: name, isCalibrated, maxPieceSeconds }, 'model calibrated with speech');
    },
    async transcribe(piece, options) {
      const language = modelCode(name, options.language, found.languages);
      const transcript = await local.transcribe(piece, { ...options, language });
      return { ...transcript, language: transcript.language ?? spokenLanguage(found, options.language) };
    },
  };
  return engine;
}

/**
 * The model's own code for a language. The API checks languages as well, but the job may be older than the model of its
 * plan.
 * @throws EngineError  for an unknown language, for which sherpa-onnx would abort its process
 */
function modelCode(name: string, language: string | null, known: readonly string[] | null): string | null {
  if (language === null || known === null) return language;
  const code = modelLanguage(language, known);
  if (code === null)
    throw new EngineError('engine_error', `The model ${name} does not know the language ${language}.`, {
      failure: { kind: 'request' },
    });
  return code;
}

/**
 * The language of a text of which the model does not say it: its only one, or the one that it was told to transcribe.
 * What a request named is no evidence for a model that cannot be told.
 */
function spokenLanguage({ family, languages }: SherpaModel, asked: string | null): string | null {
  if (languages?.length === 1) return Intl.getCanonicalLocales(languages[0])[0] ?? null;
  return takesLanguage(family) ? asked : null;
}

/**
 * The model that a spec names.
 * @throws EngineError  that says what to do, when the folder holds no model
 */
export async function findSherpaModel(
  model: string,
  modelsDir: string,
): Promise<{ name: string; found: SherpaModel; startAdvice: string }> {
  const folder = modelFolder(model, modelsDir);
  const found = await detectSherpaModel(folder);
  const name = path.basename(folder);
  const startAdvice = `The model ${name} cannot be loaded: fetch it again, or see that its files are whole.`;
  if (found !== null) return { name, found, startAdvice };
  const wanted = 'a folder with the .onnx files and the tokens.txt of a sherpa-onnx model';
  throw new EngineError('engine_error', `There is no model ${name}. Name ${wanted}.`, {
    failure: { kind: 'start' },
  });
}

/** Memory of a process above which it is killed. */
export function memoryMaxBytes({ sizeBytes }: Pick<SherpaModel, 'sizeBytes'>): number {
  return MEMORY_BASE_BYTES + sizeBytes * MEMORY_PER_MODEL_BYTE;
}

function modelFolder(model: string, modelsDir: string): string {
  const pulled = path.join(modelsDir, model);
  return !path.isAbsolute(model) && existsSync(pulled) ? pulled : path.resolve(model);
}
