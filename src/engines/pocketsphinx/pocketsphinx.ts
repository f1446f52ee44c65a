import { entryPoint } from '../../platform/installation.ts';
import { toolEnvironment } from '../../platform/tools.ts';
import { type Engine, EngineError, FALLBACK_ENGINE } from '../engine.ts';
import type { EngineOptions } from '../engine-options.ts';
import { ChildPool } from '../process/child-pool.ts';
import { localEngine } from '../process/local-engine.ts';
import { findPocketsphinx } from './pocketsphinx-files.ts';

/** Installs the required programs and the engine that needs no model download. */
export const INSTALL_COMMAND = 'apt-get install ffmpeg pocketsphinx pocketsphinx-en-us';

// The process takes 110 MB with its model, up to 250 MB for long pieces.
const MEMORY_MAX_BYTES = 2 ** 30;

type PocketsphinxOptions = Pick<EngineOptions, 'slots' | 'tools' | 'log' | 'onRestart'>;

/** What it is, for jobs and for live sessions. */
export const POCKETSPHINX = {
  languages: ['en'],
  features: ['words', 'confidence'],
  licence: { name: 'BSD-2-Clause', attribution: 'Carnegie Mellon University' },
} satisfies Partial<Engine>;

/**
 * Debian's pocketsphinx with its American English model: low accuracy, but a package of every Debian. Words with times
 * and confidences, no punctuation.
 * @throws EngineError  with the command that installs it, when it is not installed
 */
export function openPocketsphinx({ slots, tools, log, onRestart }: PocketsphinxOptions): Engine {
  const files = findPocketsphinx(tools);
  const startAdvice = `Type: ${INSTALL_COMMAND}`;
  if (files === null) throw new EngineError('engine_error', `pocketsphinx is not installed. ${startAdvice}`);
  const pool = new ChildPool({
    module: entryPoint('pocketsphinx-child'),
    settings: files,
    environment: toolEnvironment(tools),
    memoryMaxBytes: MEMORY_MAX_BYTES,
    slots,
    startAdvice,
    log,
    onRestart: () => onRestart?.('pocketsphinx'),
  });
  const engine = localEngine(FALLBACK_ENGINE, slots, pool);
  return {
    ...engine,
    ...POCKETSPHINX,
    async transcribe(piece, options) {
      refuseOtherLanguages(options.language);
      return engine.transcribe(piece, options);
    },
  };
}

function refuseOtherLanguages(language: string | null): void {
  if (language === null || /^en\b/i.test(language)) return;
  throw new EngineError('engine_error', 'This engine knows English only; leave out `language`, or ask for `en`.');
}
