import { entryPoint } from '../../platform/installation.ts';
import { toolEnvironment } from '../../platform/tools.ts';
import { EngineError, FALLBACK_ENGINE } from '../engine.ts';
import type { EngineOptions } from '../engine-options.ts';
import type { LiveEngine } from '../live/live-engine.ts';
import { streamingEngine } from '../live/streaming-engine.ts';
import { INSTALL_COMMAND, POCKETSPHINX } from './pocketsphinx.ts';
import { findPocketsphinx } from './pocketsphinx-files.ts';

// 50 MB, and 90 MB for each decoder; eight decode at once where a core is fast.
const MEMORY_MAX_BYTES = 2 * 2 ** 30;
// Between what two virtual machines took for clips of speech, 0.22 and 0.57. What this machine takes replaces it when
// 20 s were decoded.
const SECONDS_PER_AUDIO_SECOND = 0.35;

/**
 * pocketsphinx as a live engine: one pass that keeps up with the audio.
 * @throws EngineError  with the command that installs it, when it is not installed
 */
export function openPocketsphinxLive(
  { tools, log, onRestart }: Pick<EngineOptions, 'tools' | 'log' | 'onRestart'>,
  processes: number,
): LiveEngine {
  const files = findPocketsphinx(tools);
  const startAdvice = `Type: ${INSTALL_COMMAND}`;
  if (files === null) throw new EngineError('engine_error', `pocketsphinx is not installed. ${startAdvice}`);
  return streamingEngine({
    ...POCKETSPHINX,
    name: FALLBACK_ENGINE,
    processes,
    assumedCost: SECONDS_PER_AUDIO_SECOND,
    module: entryPoint('pocketsphinx-live-child'),
    settings: files,
    environment: toolEnvironment(tools),
    memoryMaxBytes: MEMORY_MAX_BYTES,
    startAdvice,
    log,
    onRestart: () => onRestart?.(FALLBACK_ENGINE),
  });
}
