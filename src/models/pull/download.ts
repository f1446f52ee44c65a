import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '../../platform/clock.ts';
import { reasonOfConnection } from '../../rules/network/connection-failure.ts';
import { ModelError } from '../model.ts';
import { AnswerError, type ExpectedFile, RangeIgnoredError } from '../sources/expected-file.ts';

export type DownloadOptions = {
  /** Path of the file; bytes that it already has are not fetched again. */
  target: string;
  /** Called with the bytes of the file so far; the count falls to 0 when the download starts over. */
  onBytes(count: number): void;
  /** A connection that brings less than 4 KB a second for this time counts as broken. */
  stallMs: number;
  clock: Clock;
  signal: AbortSignal;
};

// Less than a line of 64 kbit/s has. A mirror that drips would hold a pull for days, and the next source wait for it.
const MIN_BYTES_PER_MS = 4;
// Only consecutive attempts that are slower count, so that a large file over an unreliable connection completes.
const SLOW_ATTEMPTS_MAX = 5;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;
const READ_BYTES = 2 ** 20;

/**
 * Downloads a file to `target`, resumes an earlier attempt, checks the digest and syncs it to disk.
 * @returns the file's SHA-256 in hex
 * @throws ModelError  `unreachable` after five attempts without data, `wrong_bytes` when a fresh copy has another
 *                     digest
 */
export async function downloadChecked(file: ExpectedFile, options: DownloadOptions): Promise<string> {
  await mkdir(path.dirname(options.target), { recursive: true });
  const resumed = await fetchAndDigest(file, options);
  if (resumed.isRight) return resumed.sha256;
  await rm(options.target);
  // The earlier part may have been damaged, such as by a power failure: one fresh copy decides.
  const fresh = resumed.wasResumed ? await fetchAndDigest(file, options) : resumed;
  if (fresh.isRight) return fresh.sha256;
  await rm(options.target, { force: true });
  throw new ModelError(
    'wrong_bytes',
    `${file.path} has a wrong checksum (SHA-256 ${fresh.sha256.slice(0, 12)}…): it was deleted. Pull again, or check the address of ${file.server}.`,
  );
}

/** A connection that is too slow. */
class SlowError extends Error {}

type Digests = { sha256: string; isRight: boolean; wasResumed: boolean };

async function fetchAndDigest(file: ExpectedFile, options: DownloadOptions): Promise<Digests> {
  await using handle = await open(options.target, 'a+');
  const part = new Part(handle, file);
  await part.resume();
  const wasResumed = part.sizeBytes > 0;
  options.onBytes(part.sizeBytes);
  await fetchRest(part, file, options);
  await handle.sync();
  return { ...part.digests(), wasResumed };
}

async function fetchRest(part: Part, file: ExpectedFile, options: DownloadOptions): Promise<void> {
  let sinceMs = options.clock.now();
  for (let slowAttempts = 0, pauseMs = FIRST_PAUSE_MS; part.sizeBytes < file.sizeBytes; ) {
    const before = part.sizeBytes;
    const failure = await fetchOnce(part, file, options);
    options.signal.throwIfAborted();
    if (part.sizeBytes === file.sizeBytes) return;
    if (failure instanceof AnswerError && !failure.isTemporary) {
      throw new ModelError('not_on_hub', `${capital(failure.message)}.`, { cause: failure });
    }
    // With the pause before it: a server may also send a little and close the connection, each time.
    const minBytes = Math.max(1, (options.clock.now() - sinceMs) * MIN_BYTES_PER_MS);
    sinceMs = options.clock.now();
    const isSlow = failure instanceof SlowError || part.sizeBytes - before < minBytes;
    if (!isSlow) [slowAttempts, pauseMs] = [0, FIRST_PAUSE_MS];
    else if (++slowAttempts === SLOW_ATTEMPTS_MAX) {
      const message = capital(
        `${file.server} ${reasonOf(failure)}, in the middle of ${file.path}. Pull again later: what is there is kept.`,
      );
      throw new ModelError('unreachable', message, { cause: failure });
    }
    await options.clock.sleep(pauseMs, options.signal);
    options.signal.throwIfAborted();
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  }
}

function reasonOf(failure: unknown): string {
  const isSlow = failure instanceof SlowError || failure === null;
  const ofConnection = isSlow ? null : reasonOfConnection(failure);
  return ofConnection ?? `stopped answering, or sent less than ${MIN_BYTES_PER_MS} KB a second`;
}

/** Fetches over one connection. Returns the error that broke it; null when it ended normally. */
async function fetchOnce(
  part: Part,
  { openAt }: ExpectedFile,
  { onBytes, stallMs, signal }: DownloadOptions,
): Promise<unknown> {
  const broken = new AbortController();
  const minBytes = stallMs * MIN_BYTES_PER_MS;
  let [windowBytes, isWriting] = [0, false];
  const window = setInterval(() => {
    if (windowBytes < minBytes && !isWriting) broken.abort(new SlowError(`${windowBytes} bytes came in ${stallMs} ms`));
    windowBytes = 0;
  }, stallMs);
  try {
    for await (const chunk of openAt(part.sizeBytes, AbortSignal.any([signal, broken.signal]))) {
      // The time until a first byte does not count.
      if (windowBytes === 0) window.refresh();
      windowBytes += chunk.length;
      isWriting = true;
      await part.append(chunk);
      isWriting = false;
      onBytes(part.sizeBytes);
    }
    return null;
  } catch (error) {
    if (isLocal(error)) throw error;
    if (error instanceof RangeIgnoredError) await part.startOver();
    return broken.signal.aborted ? broken.signal.reason : error;
  } finally {
    clearInterval(window);
  }
}

/** Errors of the disk and of the checks end the pull; errors of the connection end the attempt only. */
function isLocal(error: unknown): boolean {
  if (error instanceof ModelError) return true;
  const { syscall } = error as NodeJS.ErrnoException;
  return syscall === 'write' || syscall === 'ftruncate' || syscall === 'read';
}

/** A partly downloaded file with its digests so far. */
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

  /** Reads the bytes of an earlier attempt; discards a file that is too long. */
  async resume(): Promise<void> {
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
      await this.startOver();
      throw new ModelError(
        'wrong_bytes',
        capital(`${this.#file.server} sent more bytes of ${this.#file.path} than it has.`),
      );
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

/** Git's name for a file: the SHA-1 of this header and the bytes. */
function gitHash(sizeBytes: number): Hash {
  return createHash('sha1').update(`blob ${sizeBytes}\0`);
}

function capital(sentence: string): string {
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}
