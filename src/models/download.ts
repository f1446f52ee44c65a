import type { Hash } from 'node:crypto';
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { mkdir, open, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '../platform/clock.ts';
import type { ExpectedFile, OpenAt } from './hub.ts';
import { HubAnswerError, RangeIgnoredError } from './hub.ts';
import { ModelError } from './model.ts';

export type DownloadOptions = {
  /** Where the bytes gather; what is there already is not fetched again. */
  target: string;
  openAt: OpenAt;
  /** Bytes that are there now, from 0 to the file's size; falls back when a file is begun anew. */
  onBytes(count: number): void;
  /** A connection that brings nothing for that long is broken. */
  stallMs: number;
  clock: Clock;
  signal: AbortSignal;
};

// Only tries in a row that bring nothing count, so that a long file over a poor line comes to its end.
const EMPTY_TRIES_MAX = 5;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;
const READ_BYTES = 2 ** 20;

/**
 * The whole file at `target`, checked and on the disk; goes on where an earlier try ended.
 * @returns the file's SHA-256, hexadecimal
 * @throws ModelError  `unreachable` after five tries that brought nothing, `wrong_bytes` when a fresh copy is not what was expected
 */
export async function downloadChecked(file: ExpectedFile, options: DownloadOptions): Promise<string> {
  await mkdir(path.dirname(options.target), { recursive: true });
  const resumed = await fetchAndDigest(file, options);
  if (resumed.isRight) return resumed.sha256;
  await rm(options.target);
  // The part that was there may have been damaged, by a power cut for one; a fresh copy has no such excuse.
  const fresh = resumed.wasResumed ? await fetchAndDigest(file, options) : resumed;
  if (fresh.isRight) return fresh.sha256;
  await rm(options.target, { force: true });
  throw new ModelError(
    'wrong_bytes',
    `${file.path} came with other bytes than it should have (SHA-256 ${fresh.sha256.slice(0, 12)}…): it was thrown away. Pull again, or check the hub's address.`,
  );
}

type Digests = { sha256: string; isRight: boolean; wasResumed: boolean };

async function fetchAndDigest(file: ExpectedFile, options: DownloadOptions): Promise<Digests> {
  await using handle = await open(options.target, 'a+');
  const part = new Part(handle, file);
  await part.takeUp();
  const wasResumed = part.sizeBytes > 0;
  options.onBytes(part.sizeBytes);
  await fetchRest(part, file, options);
  await handle.sync();
  return { ...part.digests(), wasResumed };
}

async function fetchRest(part: Part, file: ExpectedFile, options: DownloadOptions): Promise<void> {
  for (let emptyTries = 0, pauseMs = FIRST_PAUSE_MS; part.sizeBytes < file.sizeBytes; ) {
    const before = part.sizeBytes;
    const broken = await fetchOnce(part, options);
    options.signal.throwIfAborted();
    if (part.sizeBytes === file.sizeBytes) return;
    if (broken instanceof HubAnswerError && !broken.isPassing) {
      throw new ModelError('not_on_hub', `${capital(broken.message)}.`, { cause: broken });
    }
    if (part.sizeBytes > before) [emptyTries, pauseMs] = [0, FIRST_PAUSE_MS];
    else if (++emptyTries === EMPTY_TRIES_MAX) {
      const message = `The hub stopped answering in the middle of ${file.path}. Pull again later: what is there is kept.`;
      throw new ModelError('unreachable', message, { cause: broken });
    }
    await options.clock.sleep(pauseMs, options.signal);
    options.signal.throwIfAborted();
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  }
}

/** One connection's worth; what broke it, or null when it ended by itself. */
async function fetchOnce(part: Part, { openAt, onBytes, stallMs, signal }: DownloadOptions): Promise<unknown> {
  const stalled = new AbortController();
  const stop = () => stalled.abort(new Error(`nothing came for ${stallMs} ms`));
  let timer = setTimeout(stop, stallMs);
  try {
    for await (const chunk of openAt(part.sizeBytes, AbortSignal.any([signal, stalled.signal]))) {
      clearTimeout(timer);
      await part.append(chunk);
      onBytes(part.sizeBytes);
      timer = setTimeout(stop, stallMs);
    }
    return null;
  } catch (error) {
    if (isOurs(error)) throw error;
    if (error instanceof RangeIgnoredError) await part.startOver();
    return error;
  } finally {
    clearTimeout(timer);
  }
}

/** The disk's errors and our own end the pull; the line's only end a try. */
function isOurs(error: unknown): boolean {
  if (error instanceof ModelError) return true;
  const { syscall } = error as NodeJS.ErrnoException;
  return syscall === 'write' || syscall === 'ftruncate' || syscall === 'read';
}

/** The part of a file that is there, with its digests so far. */
class Part {
  sizeBytes = 0;
  #sha256: Hash = createHash('sha256');
  #gitSha1: Hash;
  readonly #handle: FileHandle;
  readonly #file: ExpectedFile;

  constructor(handle: FileHandle, file: ExpectedFile) {
    this.#handle = handle;
    this.#file = file;
    this.#gitSha1 = gitHash(file.sizeBytes);
  }

  /** Reads what an earlier try left; what is too long cannot be ours. */
  async takeUp(): Promise<void> {
    const { size } = await this.#handle.stat();
    if (size > this.#file.sizeBytes) return this.#handle.truncate(0);
    const buffer = Buffer.alloc(Math.min(READ_BYTES, size));
    while (this.sizeBytes < size) {
      const { bytesRead } = await this.#handle.read(buffer, 0, buffer.length, this.sizeBytes);
      if (bytesRead === 0) break;
      this.#count(buffer.subarray(0, bytesRead));
    }
  }

  async append(chunk: Uint8Array): Promise<void> {
    if (this.sizeBytes + chunk.length > this.#file.sizeBytes) {
      // More than the file has: no reason to fill the disk with it.
      await this.startOver();
      throw new ModelError('wrong_bytes', `The hub sent more bytes of ${this.#file.path} than it has.`);
    }
    for (let written = 0; written < chunk.length; ) {
      written += (await this.#handle.write(chunk, written)).bytesWritten;
    }
    this.#count(chunk);
  }

  async startOver(): Promise<void> {
    await this.#handle.truncate(0);
    this.sizeBytes = 0;
    this.#sha256 = createHash('sha256');
    this.#gitSha1 = gitHash(this.#file.sizeBytes);
  }

  digests(): { sha256: string; isRight: boolean } {
    const [sha256, gitSha1] = [this.#sha256.digest('hex'), this.#gitSha1.digest('hex')];
    const { sha256: wanted, gitSha1: gitWanted } = this.#file;
    const isKnown = wanted !== null || gitWanted !== null;
    const isRight = isKnown && (wanted === null || sha256 === wanted) && (gitWanted === null || gitSha1 === gitWanted);
    return { sha256, isRight };
  }

  #count(bytes: Uint8Array): void {
    this.#sha256.update(bytes);
    this.#gitSha1.update(bytes);
    this.sizeBytes += bytes.length;
  }
}

/** Git names a file by the SHA-1 of this header and its bytes. */
function gitHash(sizeBytes: number): Hash {
  return createHash('sha1').update(`blob ${sizeBytes}\0`);
}

function capital(sentence: string): string {
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}
