import { Worker } from 'node:worker_threads';
import { entryPoint } from '../../platform/installation.ts';
import type { AudioTrack } from '../../rules/channels/audio-tracks.ts';
import { openAudio } from '../storage/open-audio.ts';

/** The short name of a file's format, and the length and form of its only audio track, as its headers state them. */
export type MediaHeader = { format: string; seconds: number; track: AudioTrack };

/** A file on the disk, or all bytes of a small one, in memory that nothing else uses: they are moved to the thread. */
export type ProbedMedia = { path: string } | { bytes: Uint8Array<ArrayBuffer> };

export type HeaderRequest = ProbedMedia;
/** Null when the parser cannot read the file with certainty. */
export type HeaderResponse = MediaHeader | null;

// The parser may read a large part of a file into memory.
// For larger files the start of ffprobe costs little beside the upload.
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_MS = 1_000;
// Each takes a few ms, or MAX_MS when it is hostile. The others are left to ffprobe, which takes 60 ms.
const MAX_WAITING = 8;
const HEAP_LIMITS = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8 };

/**
 * Reads the headers of an untrusted file in a worker thread, in JavaScript: this takes a few ms, the start of ffprobe
 * 100 ms of CPU time. A file that exceeds the time or memory limit terminates the thread;
 * the next file starts a new thread.
 * @returns null unless the file certainly contains one audio track; the caller then uses ffprobe
 */
export type HeaderProbe = (media: ProbedMedia) => Promise<MediaHeader | null>;

/** A file that waits for the thread, or that the thread reads: the first of the queue. */
type Entry = { media: ProbedMedia; respond: (header: MediaHeader | null) => void };

/** Tests pass a module for the thread and a time limit of their own. */
export function openHeaderProbe({ module = entryPoint('header-probe-thread'), maxMs = MAX_MS } = {}): HeaderProbe {
  const queue: Entry[] = [];
  let thread: Worker | null = null;
  let timer: NodeJS.Timeout | undefined;

  function startThread(): Worker {
    const started = new Worker(module, { resourceLimits: HEAP_LIMITS, env: {} });
    started.on('message', (header: HeaderResponse) => answerFirst(header));
    // Out of memory, or an error in the parser: `exit` follows.
    started.on('error', () => undefined);
    started.on('exit', () => {
      thread = null;
      answerFirst(null);
    });
    // An idle thread must not keep the process alive.
    started.unref();
    return started;
  }

  function answerFirst(header: MediaHeader | null): void {
    clearTimeout(timer);
    queue.shift()?.respond(header);
    readFirst();
  }

  /** Gives the thread one file at a time: the others wait outside of it, and outlive a file that ends it. */
  function readFirst(): void {
    const [first] = queue;
    if (!first) return;
    let worker: Worker;
    try {
      worker = thread ??= startThread();
    } catch {
      // The system has no thread left.
      answerFirst(null);
      return;
    }
    timer = setTimeout(() => void worker.terminate(), maxMs);
    worker.postMessage(first.media satisfies HeaderRequest, 'bytes' in first.media ? [first.media.bytes.buffer] : []);
  }

  return async (media) => {
    const sizeBytes = 'path' in media ? await sizeOf(media.path) : media.bytes.length;
    if (sizeBytes === 0 || sizeBytes > MAX_BYTES || queue.length >= MAX_WAITING) return null;
    return await new Promise((respond) => {
      queue.push({ media, respond });
      if (queue.length === 1) readFirst();
    });
  };
}

async function sizeOf(path: string): Promise<number> {
  using file = await openAudio(path);
  return file.sizeBytes;
}
