import { toolEnvironment } from '../../platform/tools.ts';
import type { Engine } from '../engine.ts';
import { EngineError } from '../engine.ts';
import type { EngineOptions } from '../engine-options.ts';
import { openChildPool } from '../process/child-pool.ts';
import { localEngine } from '../process/local-engine.ts';
import { findPocketsphinx } from './pocketsphinx-files.ts';

/** The command that brings what a machine needs at least. */
export const INSTALL_COMMAND = 'apt-get install ffmpeg pocketsphinx pocketsphinx-en-us';

// It takes 110 MB with its model; long pieces up to 250 MB.
const MEMORY_MAX_BYTES = 2 ** 30;

type PocketsphinxOptions = Pick<EngineOptions, 'slots' | 'tools' | 'log' | 'onRestart'>;

/**
 * Debian's pocketsphinx with its American English model: basic, but everywhere at hand. Words with times and confidence, no
 * punctuation.
 * @throws EngineError  naming the command to type, when it is not installed
 */
export function openPocketsphinx({ slots, tools, log, onRestart }: PocketsphinxOptions): Engine {
  const files = findPocketsphinx(tools);
  const startAdvice = `Type: ${INSTALL_COMMAND}`;
  if (files === null) throw new EngineError('engine_error', `pocketsphinx is not installed. ${startAdvice}`);
  const pool = openChildPool({
    module: new URL('./pocketsphinx-child.ts', import.meta.url),
    settings: files,
    environment: toolEnvironment(tools),
    memoryMaxBytes: MEMORY_MAX_BYTES,
    slots,
    startAdvice,
    log,
    onRestart: () => onRestart?.('pocketsphinx'),
  });
  const engine = localEngine('pocketsphinx', slots, pool);
  return {
    ...engine,
    languages: ['en'],
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
