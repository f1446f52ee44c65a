import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { CATALOGUE } from '../../models/catalogue.ts';
import { isPulled } from '../../models/folder.ts';
import { entryPoint } from '../../platform/installation.ts';
import type { Log } from '../../platform/log.ts';
import { openSemaphore } from '../../platform/semaphore.ts';
import { type ToolPaths, toolEnvironment } from '../../platform/tools.ts';
import type { Interval } from '../../rules/transcript/intervals.ts';
import { type Pcm, SAMPLE_RATE } from '../engine.ts';
import { isPureTone } from '../evidence/pure-tone.ts';
import { ChildPool } from '../process/child-pool.ts';

/** Finds speech in audio. It may fail at any time; callers have a fallback. */
export type VoiceDetector = AsyncDisposable & {
  /**
   * The intervals with speech, in order; null when detection failed, and for audio of less than 0.1 s. Rejects with the
   * signal's reason.
   */
  find(audio: Pcm, signal: AbortSignal): Promise<Interval[] | null>;
};

export type VoiceDetectorOptions = {
  modelsDir: string;
  /** How many pieces the engines transcribe at once. */
  slots: number;
  tools: ToolPaths;
  log: Log;
  catalogue?: typeof CATALOGUE;
};

// One process checks several hundred hours of audio in an hour;
// a slot of the fastest engine transcribes about one hundred.
const SLOTS_PER_PROCESS = 4;
const MEMORY_MAX_BYTES = 2 ** 29;
// A call takes some 10 ms.
const TIMEOUT_MS = 15_000;
const FAILURES_MAX = 3;
/** Nothing is known of shorter audio: no word is so short. */
const SHORTEST_SECONDS = 0.1;

/**
 * Silero VAD in processes of its own; null when its model was not pulled, or when its file differs from the
 * catalogue's: a damaged file could crash or hang the process.
 */
export async function openVoiceDetector(options: VoiceDetectorOptions): Promise<VoiceDetector | null> {
  const { modelsDir, slots, tools, log, catalogue = CATALOGUE } = options;
  for (const { name, files } of catalogue.filter(({ family }) => family === 'vad')) {
    if (!(await isPulled(modelsDir, name))) continue;
    const [file] = files;
    const model = path.resolve(modelsDir, name, file!.path);
    if (await isExpectedFile(model, file!)) return openDetector(model, { slots, tools, log });
    log.warn({ model: name }, 'voice detector not used: its file is damaged; remove the model and pull it again');
  }
  return null;
}

async function isExpectedFile(model: string, file: { sizeBytes: number; sha256: string | null }): Promise<boolean> {
  const found = await stat(model).catch(() => null);
  if (!found?.isFile() || found.size !== file.sizeBytes) return false;
  const sha256 = createHash('sha256').update(await readFile(model));
  return sha256.digest('hex') === file.sha256;
}

function openDetector(
  model: string,
  { slots, tools, log }: Pick<VoiceDetectorOptions, 'slots' | 'tools' | 'log'>,
): VoiceDetector {
  // More processes than cores would only take memory.
  const processes = Math.min(Math.ceil(slots / SLOTS_PER_PROCESS), os.availableParallelism());
  // The time of a call begins when a process is free, however many pieces wait.
  const semaphore = openSemaphore(processes);
  const pool = new ChildPool({
    module: entryPoint('vad-child'),
    settings: { model },
    environment: toolEnvironment(tools),
    memoryMaxBytes: MEMORY_MAX_BYTES,
    slots: processes,
    startAdvice: 'Long audio is cut without it.',
    log,
  });
  let failures = 0;

  async function find(audio: Pcm, signal: AbortSignal): Promise<Interval[] | null> {
    if (failures >= FAILURES_MAX || audio.length < SHORTEST_SECONDS * SAMPLE_RATE) return null;
    // The network takes the start of a telephone's tone for speech.
    if (isPureTone(audio)) return [];
    try {
      const options = { language: null, timeoutMs: TIMEOUT_MS, signal };
      const { segments } = await semaphore(() => pool.transcribe(audio, options), signal);
      failures = 0;
      return segments;
    } catch (cause) {
      signal.throwIfAborted();
      failures += 1;
      if (failures === FAILURES_MAX) {
        log.warn({ err: cause }, 'voice detector given up until the next start; long audio is cut without it');
        await pool[Symbol.asyncDispose]();
      }
      return null;
    }
  }

  return { find, [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose]() };
}
