import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { CATALOGUE } from '../../models/catalogue.ts';
import { isPulled } from '../../models/folder.ts';
import type { Log } from '../../platform/log.ts';
import type { ToolPaths } from '../../platform/tools.ts';
import { toolEnvironment } from '../../platform/tools.ts';
import type { Pcm } from '../engine.ts';
import { SAMPLE_RATE } from '../engine.ts';
import { openChildPool } from '../process/child-pool.ts';

/** A stretch of speech, in seconds from the start of what was asked about. */
export type Stretch = { startSeconds: number; endSeconds: number };

/** Finds where speech is. It may fail at any time, and then says so: whoever asks has another rule for that. */
export type VoiceDetector = AsyncDisposable & {
  /** The stretches with speech, in order; null where it cannot tell. Rejects with the signal's reason. */
  find(audio: Pcm, signal: AbortSignal): Promise<Stretch[] | null>;
  /** False only where it is sure that no speech is. */
  mayHoldSpeech(piece: Pcm, signal: AbortSignal): Promise<boolean>;
};

export type VoiceDetectorOptions = {
  modelsDir: string;
  /** Pieces that engines work on at once. */
  slots: number;
  tools: ToolPaths;
  log: Log;
  catalogue?: typeof CATALOGUE;
};

// In an hour one process hears what it must of some hundreds of hours; the quickest engine takes a slot for each hundred.
const SLOTS_PER_PROCESS = 4;
const MEMORY_MAX_BYTES = 2 ** 29;
// Its work is some hundredths of a second.
const TIMEOUT_MS = 15_000;
const FAILURES_MAX = 3;
/** It has to hear a word from its start: too short a piece is not for it to judge. */
const SHORTEST_SECONDS = 1;
// In most pieces speech is in the first seconds, and then no more needs to be looked at.
const GLANCE_SECONDS = 4;
const OVERLAP_SECONDS = 0.5;

/**
 * Silero VAD, in processes of its own, where its model was pulled; null where it was not, or where its file is not the one
 * that the catalogue pins: foreign bytes could end or hang what loads them.
 */
export async function openVoiceDetector(options: VoiceDetectorOptions): Promise<VoiceDetector | null> {
  const { modelsDir, slots, tools, log, catalogue = CATALOGUE } = options;
  for (const { name, files } of catalogue.filter(({ family }) => family === 'vad')) {
    if (!(await isPulled(modelsDir, name))) continue;
    const [file] = files;
    const model = path.resolve(modelsDir, name, file!.path);
    if (await isTheFile(model, file!)) return openDetector(model, { slots, tools, log });
    log.warn({ model: name }, 'voice detector not used: its file is damaged; remove the model and pull it again');
  }
  return null;
}

async function isTheFile(model: string, file: { sizeBytes: number; sha256: string | null }): Promise<boolean> {
  const found = await stat(model).catch(() => null);
  if (!found?.isFile() || found.size !== file.sizeBytes) return false;
  const sha256 = createHash('sha256').update(await readFile(model));
  return sha256.digest('hex') === file.sha256;
}

function openDetector(
  model: string,
  { slots, tools, log }: Pick<VoiceDetectorOptions, 'slots' | 'tools' | 'log'>,
): VoiceDetector {
  const pool = openChildPool({
    module: new URL('./vad-child.ts', import.meta.url),
    settings: { model },
    environment: toolEnvironment(tools),
    memoryMaxBytes: MEMORY_MAX_BYTES,
    slots: Math.ceil(slots / SLOTS_PER_PROCESS),
    startAdvice: 'Long audio is cut without it.',
    log,
  });
  let failures = 0;

  async function find(audio: Pcm, signal: AbortSignal): Promise<Stretch[] | null> {
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
    for (let at = 0; at < piece.length; at += GLANCE_SECONDS * SAMPLE_RATE) {
      const part = piece.subarray(at, at + (GLANCE_SECONDS + OVERLAP_SECONDS) * SAMPLE_RATE);
      const heard = await find(part, signal);
      if (heard === null || heard.length > 0) return true;
    }
    return false;
  }

  return { find, mayHoldSpeech, [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose]() };
}
