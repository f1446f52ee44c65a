import { stat } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';

/** What a file's headers say plainly: a short name of its format, and how long its sound is. */
export type Glance = { format: string; seconds: number };

export type GlanceQuestion = { id: number; path: string };
/** As the thread answers; null where it is not sure of the file. */
export type GlanceAnswer = { id: number; glance: Glance | null };

// A larger file could be read into memory further than a glance is worth; beside its upload, starting a program is nothing.
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_MS = 1_000;
const HEAP_LIMITS = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8 };

/**
 * Reads the headers of a stranger's file in a thread of this process, in JavaScript: a few ms, where starting ffprobe takes
 * 100 ms of processor. Only a clear yes counts. A file that it does not know is for ffprobe to judge, and so is one that
 * keeps it busy or fills its memory: the thread ends then, and the next file gets a new one.
 * @returns null for everything but a file with sound that it is sure of
 */
export type Glancer = (path: string) => Promise<Glance | null>;

type Room = { worker: Worker; asked: Map<number, (glance: Glance | null) => void> };

type GlancerOptions = {
  /** The module that the thread runs. */
  thread?: URL;
  maxMs?: number;
};

/** @param options  for tests */
export function openGlancer({
  thread = new URL('./header-probe-thread.ts', import.meta.url),
  maxMs = MAX_MS,
}: GlancerOptions = {}): Glancer {
  let room: Room | null = null;
  let nextId = 1;

  function openRoom(): Room {
    const worker = new Worker(thread, { resourceLimits: HEAP_LIMITS, env: {} });
    const asked: Room['asked'] = new Map();
    const opened = { worker, asked };
    worker.on('message', ({ id, glance }: GlanceAnswer) => asked.get(id)?.(glance));
    // Out of memory, or a bug of the parser. Its end is told next.
    worker.on('error', () => undefined);
    worker.on('exit', () => {
      if (room === opened) room = null;
      for (const answer of [...asked.values()]) answer(null);
    });
    // It keeps no process from ending.
    worker.unref();
    return opened;
  }

  return async (path) => {
    const { size } = await stat(path);
    if (size === 0 || size > MAX_BYTES) return null;
    const { worker, asked } = (room ??= openRoom());
    const id = nextId++;
    return await new Promise((resolve) => {
      const timer = setTimeout(() => void worker.terminate(), maxMs);
      asked.set(id, (glance) => {
        clearTimeout(timer);
        asked.delete(id);
        resolve(glance);
      });
      worker.postMessage({ id, path } satisfies GlanceQuestion);
    });
  };
}
