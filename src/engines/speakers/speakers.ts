import { randomBytes } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { CATALOGUE } from '../../models/catalogue.ts';
import { isPulled } from '../../models/folder.ts';
import { entryPoint } from '../../platform/installation.ts';
import type { Log } from '../../platform/log.ts';
import { openSemaphore } from '../../platform/semaphore.ts';
import { type ToolPaths, toolEnvironment } from '../../platform/tools.ts';
import { SPEAKERS_MAX, type SpeakerBounds, type Turn } from '../../rules/speakers/turn.ts';
import { EngineError, SAMPLE_RATE } from '../engine.ts';
import { tookTooLong } from '../process/call-queue.ts';
import { type Child, startChild } from '../process/child.ts';
import type { SpeakerAnswer, SpeakerOrder } from './speakers-child.ts';

/** Audio as 16-bit samples, mono, 16 000 per second. */
export type SpokenAudio = { file: Pick<FileHandle, 'fd'>; samples: number };

export type FoundSpeakers = {
  /** In the order of their starts; voices are numbered without gaps. */
  turns: Turn[];
  /** There may be more or fewer speakers. */
  isUncertain: boolean;
};

export type FindOptions = {
  bounds: SpeakerBounds;
  /** Called with 0 to 1, never less than before. */
  onProgress?: (share: number) => void;
  signal: AbortSignal;
};

/** Finds who speaks when. */
export type SpeakerFinder = {
  /** One recording at a time; others wait in order. Rejects with the signal's reason. @throws EngineError */
  find(audio: SpokenAudio, options: FindOptions): Promise<FoundSpeakers>;
};

export type SpeakerFinderOptions = {
  modelsDir: string;
  /** Opens a file for the test signal. */
  openScratch(): Promise<FileHandle>;
  tools: ToolPaths;
  log: Log;
  /** The time that a recording may take; the default allows for slow machines. */
  timeoutMs?: (audioSeconds: number) => number;
  /** The longest part of a recording that is worked on at once; memory grows with it. */
  blockMaxSeconds?: number;
};

const ANY_NUMBER: SpeakerBounds = { min: 1, max: SPEAKERS_MAX };

// Native memory: a block as floats twice, and 4 bytes for each pair of its parts of speech. With blocks of an hour,
// four hours of audio took 0.8 GB with small models.
const BLOCK_MAX_SECONDS = 3600;
const MEMORY_MAX_BYTES = 2 ** 31;
// Below other engines: the next job's transcription comes first.
const NICENESS = 10;
// A process may be killed because of the memory of others.
const TRIES = 2;
const WARM_UP_SECONDS = 12;

/**
 * On one core the models take a tenth to a half of the audio's length;
 * while others transcribe, they get part of a core.
 */
function defaultTimeoutMs(audioSeconds: number): number {
  return 60_000 + audioSeconds * 4000;
}

/** Finds speakers with the pulled speaker model, in a process for each recording; null without a model that works. */
export async function openSpeakerFinder(options: SpeakerFinderOptions): Promise<SpeakerFinder | null> {
  const { modelsDir, openScratch, log } = options;
  const model = CATALOGUE.find(({ family }) => family === 'speakers')!;
  if (!(await isPulled(modelsDir, model.name))) return null;
  const [segmentation, embedding] = model.files.map((file) => path.resolve(modelsDir, model.name, file.path));
  const finder = new ProcessFinder(options, {
    segmentation: segmentation!,
    embedding: embedding!,
    thresholds: model.speakerThresholds!,
  });
  try {
    await warmUp(finder, openScratch);
    return finder;
  } catch (error) {
    const fields = { err: error, cause: String((error as Error).cause) };
    log.error(fields, `speakers are not found: remove the model ${model.name}, pull it again and restart the service`);
    return null;
  }
}

/** @throws EngineError  when the models cannot be loaded or cannot work */
async function warmUp(finder: SpeakerFinder, openScratch: () => Promise<FileHandle>): Promise<void> {
  await using file = await openScratch();
  const samples = WARM_UP_SECONDS * SAMPLE_RATE;
  // Noise, because silence never reaches the second model.
  await file.write(randomBytes(2 * samples), 0, 2 * samples, 0);
  await finder.find({ file, samples }, { bounds: ANY_NUMBER, signal: new AbortController().signal });
}

type FinderOptions = Pick<SpeakerFinderOptions, 'tools' | 'log' | 'timeoutMs' | 'blockMaxSeconds'>;
type Models = Pick<SpeakerOrder, 'segmentation' | 'embedding' | 'thresholds'>;

class ProcessFinder implements SpeakerFinder {
  readonly #options: FinderOptions;
  readonly #models: Models;
  readonly #oneAtATime = openSemaphore(1);

  constructor(options: FinderOptions, models: Models) {
    this.#options = options;
    this.#models = models;
  }

  async find(audio: SpokenAudio, options: FindOptions): Promise<FoundSpeakers> {
    if (audio.samples === 0) return { turns: [], isUncertain: false };
    return await this.#oneAtATime(() => this.#findRetrying(audio, options), options.signal);
  }

  async #findRetrying(audio: SpokenAudio, options: FindOptions): Promise<FoundSpeakers> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#findOnce(audio, options);
      } catch (error) {
        options.signal.throwIfAborted();
        const isFinal = tries === TRIES || (error as EngineError).type === 'engine_timeout';
        if (isFinal) throw error;
        this.#options.log.warn({ cause: String((error as Error).cause) }, 'speaker process ended; it is started again');
      }
    }
  }

  async #findOnce({ file, samples }: SpokenAudio, options: FindOptions): Promise<FoundSpeakers> {
    const { tools, timeoutMs = defaultTimeoutMs, blockMaxSeconds = BLOCK_MAX_SECONDS } = this.#options;
    options.signal.throwIfAborted();
    const limitMs = Math.ceil(timeoutMs(samples / SAMPLE_RATE));
    const timeLimit = AbortSignal.timeout(limitMs);
    const stop = AbortSignal.any([options.signal, timeLimit]);
    const order: SpeakerOrder = { ...this.#models, bounds: options.bounds, samples, blockMaxSeconds };
    const child = startChild<SpeakerAnswer>({
      module: entryPoint('speakers-child'),
      settings: order,
      environment: toolEnvironment(tools),
      memoryMaxBytes: MEMORY_MAX_BYTES,
      niceness: NICENESS,
      file: file.fd,
    });
    stop.addEventListener('abort', child.kill, { once: true });
    try {
      return await readAnswers(child, options.onProgress);
    } catch (cause) {
      options.signal.throwIfAborted();
      if (timeLimit.aborted) throw tookTooLong(limitMs);
      throw new EngineError('engine_error', 'The speaker process stopped while it worked on this audio.', { cause });
    } finally {
      stop.removeEventListener('abort', child.kill);
      child.kill();
      await child.exited;
    }
  }
}

async function readAnswers(
  child: Child<SpeakerAnswer>,
  onProgress: (share: number) => void = () => undefined,
): Promise<FoundSpeakers> {
  let highest = 0;
  for (let answer = await child.ready; ; answer = await child.next()) {
    if (answer.kind === 'done') return { turns: answer.turns, isUncertain: answer.isUncertain };
    highest = Math.max(highest, answer.share);
    onProgress(highest);
  }
}
