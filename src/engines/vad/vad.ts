import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { CATALOGUE } from '../../models/catalogue.ts';
import { isPulled } from '../../models/folder.ts';
import { entryPoint } from '../../platform/installation.ts';
import type { Log } from '../../platform/log.ts';
import { type ToolPaths, toolEnvironment } from '../../platform/tools.ts';
import { type Pcm, SAMPLE_RATE } from '../engine.ts';
import { ChildPool } from '../process/child-pool.ts';

/** An interval with speech, in seconds from the start of the given audio. */
export type Interval = { startSeconds: number; endSeconds: number };

/** Finds speech in audio. It may fail at any time; callers have a fallback. */
export type VoiceDetector = AsyncDisposable & {
  /** The intervals with speech, in order; null when detection failed. Rejects with the signal's reason. */
  find(audio: Pcm, signal: AbortSignal): Promise<Interval[] | null>;
  /** False only when detection found no speech. Rejects with the signal's reason. */
  mayHoldSpeech(piece: Pcm, signal: AbortSignal): Promise<boolean>;
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
/** Shorter pieces count as speech: detection needs the start of a word. */
const SHORTEST_SECONDS = 1;
// mayHoldSpeech checks a piece in parts and stops at the first speech, which is mostly in the first seconds.
const PART_SECONDS = 4;
const OVERLAP_SECONDS = 0.5;

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
  const pool = new ChildPool({
    module: entryPoint('vad-child'),
    settings: { model },
    environment: toolEnvironment(tools),
    memoryMaxBytes: MEMORY_MAX_BYTES,
    slots: Math.ceil(slots / SLOTS_PER_PROCESS),
    startAdvice: 'Long audio is cut without it.',
    log,
  });
  let failures = 0;

  async function find(audio: Pcm, signal: AbortSignal): Promise<Interval[] | null> {
    if (failures >= FAILURES_MAX) return null;
    try {
      const { segments } = await pool.transcribe(audio, { language: null, timeoutMs: TIMEOUT_MS, signal });
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

  async function mayHoldSpeech(piece: Pcm, signal: AbortSignal): Promise<boolean> {
    if (piece.length < SHORTEST_SECONDS * SAMPLE_RATE) return true;
    for (let at = 0; at < piece.length; at += PART_SECONDS * SAMPLE_RATE) {
      const part = piece.subarray(at, at + (PART_SECONDS + OVERLAP_SECONDS) * SAMPLE_RATE);
      const found = await find(part, signal);
      if (found === null || found.length > 0) return true;
    }
    return false;
  }

  return { find, mayHoldSpeech, [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose]() };
}
