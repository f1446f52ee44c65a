import { entryPoint } from '../../platform/installation.ts';
import { toolEnvironment } from '../../platform/tools.ts';
import { licenceOfModel } from '../catalogued-model.ts';
import type { EngineOptions } from '../engine-options.ts';
import type { LiveEngine } from '../live/live-engine.ts';
import { streamingEngine } from '../live/streaming-engine.ts';
import { findSherpaModel, memoryMaxBytes } from './sherpa.ts';

/** Names of families in the configuration of a recogniser for streams, where they differ. */
const STREAMING_FAMILIES: Record<string, string> = { zipformerCtc: 'zipformer2Ctc' };

/**
 * A live engine for a streaming model; null for a model that transcribes whole pieces.
 * @param model  the name of a folder in `modelsDir`, or the path of another folder
 * @throws EngineError  that says what to do, when the folder holds no model
 */
export async function openSherpaLive(
  model: string,
  { modelsDir, tools, log, onRestart }: EngineOptions,
  processes: number,
): Promise<LiveEngine | null> {
  const { name, found, startAdvice } = await findSherpaModel(model, modelsDir);
  if (!found.isStreaming) return null;
  const { family, modelConfig } = found;
  const { [family]: files, tokens } = modelConfig;
  return streamingEngine({
    name,
    languages: found.languages,
    features: found.features,
    licence: licenceOfModel(name),
    processes,
    // The network takes as long for any sound.
    assumedCost: null,
    module: entryPoint('sherpa-live-child'),
    settings: {
      modelConfig: { [STREAMING_FAMILIES[family] ?? family]: files, tokens, numThreads: 1, provider: 'cpu', debug: 0 },
    },
    environment: toolEnvironment(tools),
    memoryMaxBytes: memoryMaxBytes(found),
    startAdvice,
    log,
    onRestart: () => onRestart?.(name),
  });
}
