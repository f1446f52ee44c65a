import { stat } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import type { AudioTrack } from '../../rules/channels/audio-tracks.ts';

/** The short name of a file's format, and the length and form of its only audio track, as its headers state them. */
export type MediaHeader = { format: string; seconds: number; track: AudioTrack };

/** A file on the disk, or all bytes of a small one, in memory that nothing else uses: they are moved to the thread. */
export type ProbedMedia = { path: string } | { bytes: Uint8Array<ArrayBuffer> };

export type HeaderRequest = { id: number; media: ProbedMedia };
/** `header` is null when the parser cannot read the file with certainty. */
export type HeaderResponse = { id: number; header: MediaHeader | null };

// The parser may read a large part of a file into memory. For larger files the start of ffprobe costs little beside the upload.
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_MS = 1_000;
const HEAP_LIMITS = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8 };

/**
 * Reads the headers of an untrusted file in a worker thread, in JavaScript: this takes a few ms, the start of ffprobe 100 ms
 * of CPU time. A file that exceeds the time or memory limit terminates the thread; the next file starts a new thread.
 * @returns null unless the file certainly contains one audio track; the caller then uses ffprobe
 */
export type HeaderProbe = (media: ProbedMedia) => Promise<MediaHeader | null>;

type Thread = { worker: Worker; pending: Map<number, (header: MediaHeader | null) => void> };

/** Tests pass a module for the thread and a time limit of their own. */
export function openHeaderProbe({
  module = new URL('./header-probe-thread.ts', import.meta.url),
  maxMs = MAX_MS,
} = {}): HeaderProbe {
  let thread: Thread | null = null;
  let nextId = 1;

  function startThread(): Thread {
    const worker = new Worker(module, { resourceLimits: HEAP_LIMITS, env: {} });
    const pending: Thread['pending'] = new Map();
    const started = { worker, pending };
    worker.on('message', ({ id, header }: HeaderResponse) => pending.get(id)?.(header));
    // Out of memory, or an error in the parser: `exit` follows.
    worker.on('error', () => undefined);
    worker.on('exit', () => {
      if (thread === started) thread = null;
      for (const respond of [...pending.values()]) respond(null);
    });
    // An idle thread must not keep the process alive.
    worker.unref();
    return started;
  }

  return async (media) => {
    const sizeBytes = 'path' in media ? (await stat(media.path)).size : media.bytes.length;
    if (sizeBytes === 0 || sizeBytes > MAX_BYTES) return null;
    const { worker, pending } = (thread ??= startThread());
    const id = nextId++;
    return await new Promise((resolve) => {
      const timer = setTimeout(() => void worker.terminate(), maxMs);
      pending.set(id, (header) => {
        clearTimeout(timer);
        pending.delete(id);
        resolve(header);
      });
      worker.postMessage({ id, media } satisfies HeaderRequest, 'bytes' in media ? [media.bytes.buffer] : []);
    });
  };
}
