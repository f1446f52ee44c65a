import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { AudioError } from '../../audio/audio-error.ts';
import { decodePcm } from '../../audio/decode/decode.ts';
import { encodeOpus, OPUS_BYTES_PER_SECOND } from '../../audio/encode-opus.ts';
import { requireFreeDisk, whileDiskIsFree } from '../../audio/storage/free-disk.ts';
import { AudioGoneError, type AudioStorage, type StorageRuntime } from '../../audio/storage/storage.ts';
import { ApiError, unavailable } from '../../http/api-error.ts';
import { openFairSemaphore } from '../../platform/fair-semaphore.ts';
import type { ToolPaths } from '../../platform/tools.ts';
import type { ByteRange } from '../../rules/byte-range.ts';
import { trackIndex } from '../../rules/channels/audio-tracks.ts';
import type { JobHead } from '../job.ts';

type OpusRuntime = StorageRuntime & { tools: ToolPaths };

type ScratchFile = Awaited<ReturnType<AudioStorage['openScratch']>>;

/** A copy, in a file without a name: its space is free when the file is closed, by a crash as well. */
type Copy = {
  file: ScratchFile;
  sizeBytes: number;
  digest: string;
  readers: number;
  usedAtMs: number;
  isKept: boolean;
};

/** A copy that can be read now. */
type OpenCopy = Pick<Copy, 'sizeBytes' | 'digest'> & { read(bytes: ByteRange): Readable };

const BLOCK_BYTES = 65_536;
// A player asks for parts of a file as long as it is open; after a pause it is made again.
const KEPT_MS = 600_000;
const KEPT_MAX_BYTES = 512 * 2 ** 20;
const KEPT_MAX_FILES = 64;
// A second of audio takes 5 to 10 ms to decode and encode; a busy machine takes ten times as long.
const DEADLINE = { leastMs: 30_000, perAudioMs: 0.1, mostMs: 900_000 };
const RETRY_AFTER_SECONDS = 60;

/**
 * Copies of stored audio as Ogg files with Opus, for browsers that cannot play the original. They are made when they
 * are asked for, and kept by this process for ten minutes after they were read: nothing of them is in the storage or
 * the database. An account makes one at a time, the process two; who hangs up ends the making.
 */
export class OpusCopies {
  readonly #runtime: OpusRuntime;
  readonly #making = openFairSemaphore({ permits: 2, perOwner: 1 });
  /** By job; the one that was read last is at the end. */
  readonly #copies = new Map<string, Copy>();

  constructor(runtime: OpusRuntime) {
    this.#runtime = runtime;
  }

  /**
   * @param signal  aborts when nobody waits any more
   * @throws ApiError  422 when the audio cannot be decoded, 503
   * @throws AudioGoneError, StorageAwayError
   * @throws unknown  the reason of the signal
   */
  async open(job: JobHead, audioKey: string, signal: AbortSignal): Promise<OpenCopy> {
    const make = async () => this.#copies.get(job.id) ?? (await this.#make(job, audioKey, signal));
    const copy = this.#copies.get(job.id) ?? (await this.#making(job.accountId, make, signal));
    this.#noteUse(job.id, copy);
    return { sizeBytes: copy.sizeBytes, digest: copy.digest, read: (bytes) => this.#read(job.id, copy, bytes) };
  }

  async #make(job: JobHead, audioKey: string, signal: AbortSignal): Promise<Copy> {
    const { storage, config, clock } = this.#runtime;
    await requireFreeDisk(storage, config.minFreeDiskBytes, (job.durationMs ?? 0) * (OPUS_BYTES_PER_SECOND / 1_000));
    const over = new AbortController();
    void clock.sleep(deadlineMs(job), over.signal).then(() => over.abort(tookTooLong()));
    const file = await storage.openScratch();
    try {
      const written = await this.#write(file, { job, audioKey, signal: AbortSignal.any([signal, over.signal]) });
      const copy = { ...written, file, readers: 0, usedAtMs: clock.now(), isKept: true };
      this.#copies.set(job.id, copy);
      this.#makeRoom();
      void this.#dropUnused(job.id, copy);
      return copy;
    } catch (cause) {
      await file.close();
      if (over.signal.aborted) throw over.signal.reason;
      if (cause instanceof AudioError) throw new ApiError('unprocessable_audio', cause.message, { cause });
      throw cause;
    } finally {
      over.abort(null);
    }
  }

  async #write(
    file: ScratchFile,
    { job, audioKey, signal }: { job: JobHead; audioKey: string; signal: AbortSignal },
  ): Promise<Pick<Copy, 'sizeBytes' | 'digest'>> {
    const { storage, config, tools } = this.#runtime;
    const { tracks, options, format, durationMs, sizeBytes } = job;
    const track = trackIndex(tracks, options.audio_track ?? null) ?? 0;
    const { codec, channels } = tracks[track] ?? { codec: null, channels: null };
    const probed = { format: format ?? 'unknown', codec, channels, durationMs: durationMs ?? 0 };
    await using audio = await storage.localPath(audioKey);
    const bounds = { tools, maxAudioSeconds: config.maxAudioSeconds, signal };
    const samples = decodePcm(audio.path, { ...bounds, track, probed, ...(sizeBytes !== null && { sizeBytes }) });
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const chunk of whileDiskIsFree(encodeOpus(samples, bounds), storage, config.minFreeDiskBytes)) {
      await file.writeFile(chunk);
      hash.update(chunk);
      bytes += chunk.length;
    }
    if (bytes === 0) throw new AudioGoneError();
    return { sizeBytes: bytes, digest: hash.digest('hex').slice(0, 16) };
  }

  #noteUse(id: string, copy: Copy): void {
    copy.usedAtMs = this.#runtime.clock.now();
    if (this.#copies.get(id) !== copy) return;
    this.#copies.delete(id);
    this.#copies.set(id, copy);
  }

  #read(id: string, copy: Copy, bytes: ByteRange): Readable {
    copy.readers += 1;
    const stream = Readable.from(blocksOf(copy.file, bytes), { objectMode: false });
    stream.once('close', () => {
      copy.readers -= 1;
      this.#noteUse(id, copy);
      this.#closeUnread(copy);
    });
    return stream;
  }

  #makeRoom(): void {
    let bytes = 0;
    for (const { sizeBytes } of this.#copies.values()) bytes += sizeBytes;
    for (const [id, copy] of this.#copies) {
      if (this.#copies.size <= 1 || (bytes <= KEPT_MAX_BYTES && this.#copies.size <= KEPT_MAX_FILES)) return;
      bytes -= copy.sizeBytes;
      this.#drop(id, copy);
    }
  }

  async #dropUnused(id: string, copy: Copy): Promise<void> {
    const { clock } = this.#runtime;
    while (copy.isKept) {
      const leftMs = copy.usedAtMs + KEPT_MS - clock.now();
      if (leftMs <= 0 && copy.readers === 0) this.#drop(id, copy);
      else await clock.sleep(leftMs > 0 ? leftMs : KEPT_MS);
    }
  }

  #drop(id: string, copy: Copy): void {
    copy.isKept = false;
    this.#copies.delete(id);
    this.#closeUnread(copy);
  }

  /** What is written of it is not needed any more, so it does not matter when the disk fails. */
  #closeUnread({ file, isKept, readers }: Copy): void {
    if (!isKept && readers === 0) void file.close().catch(() => undefined);
  }
}

/** A stream of the file itself would close the file when its reader hangs up. */
async function* blocksOf(file: ScratchFile, { first, last }: ByteRange): AsyncGenerator<Buffer> {
  for (let at = first; at <= last; ) {
    const wanted = Math.min(BLOCK_BYTES, last + 1 - at);
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(wanted), 0, wanted, at);
    if (bytesRead === 0) throw new Error('a copy in Opus is shorter than it was');
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

function deadlineMs({ durationMs }: JobHead): number {
  return Math.min(DEADLINE.mostMs, DEADLINE.leastMs + DEADLINE.perAudioMs * (durationMs ?? 0));
}

function tookTooLong(): ApiError {
  const message =
    'The audio takes too long to convert just now. Try again in a minute, or read it without format=opus.';
  return unavailable(message, RETRY_AFTER_SECONDS);
}
