import type { FileHandle } from 'node:fs/promises';
import type { AudioStorage } from '../../audio/storage/storage.ts';
import type { Pcm } from '../../engines/engine.ts';
import type { SpokenAudio } from '../../engines/speakers/speakers.ts';

export type RecordingStorage = Pick<AudioStorage, 'freeBytes' | 'openScratch'>;

// 17 minutes of audio: free disk is read that often.
const CHECK_EVERY_BYTES = 32 * 2 ** 20;

/**
 * The decoded audio of a job in a file, kept while the audio is transcribed, because speakers are found in the whole of
 * it: 32 kB for each second, 461 MB for four hours.
 */
export class Recording implements AsyncDisposable {
  readonly #storage: RecordingStorage;
  readonly #minFreeBytes: number;
  #file: FileHandle | null = null;
  #bytes = 0;
  #checkedAtBytes = Number.NEGATIVE_INFINITY;
  #failure: unknown = null;

  /** @param minFreeBytes  of the disk that the recording leaves free */
  constructor(storage: RecordingStorage, minFreeBytes: number) {
    this.#storage = storage;
    this.#minFreeBytes = minFreeBytes;
  }

  /** Writes a chunk. A failure of the disk ends the recording; it is thrown by `audio` only. */
  async add(chunk: Pcm): Promise<void> {
    if (this.#failure !== null) return;
    await this.#write(chunk).catch((cause: unknown) => {
      this.#failure = cause;
    });
  }

  /** The audio that was recorded. @throws Error  when it could not be written, or there is none */
  audio(): SpokenAudio {
    if (this.#failure !== null) throw this.#failure;
    if (this.#file === null) throw new Error('nothing was recorded');
    return { file: this.#file, samples: this.#bytes / Int16Array.BYTES_PER_ELEMENT };
  }

  /** What is written of it is not needed any more, so it does not matter when the disk fails. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file?.close().catch(() => undefined);
  }

  async #write({ buffer, byteOffset, byteLength }: Pcm): Promise<void> {
    if (this.#bytes - this.#checkedAtBytes >= CHECK_EVERY_BYTES) {
      if ((await this.#storage.freeBytes()) < this.#minFreeBytes) throw new Error('too little free disk');
      this.#checkedAtBytes = this.#bytes;
    }
    this.#file ??= await this.#storage.openScratch();
    for (let written = 0; written < byteLength; ) {
      const rest = new Uint8Array(buffer, byteOffset + written, byteLength - written);
      const { bytesWritten } = await this.#file.write(rest, 0, rest.length, this.#bytes);
      written += bytesWritten;
      this.#bytes += bytesWritten;
    }
  }
}

/** A recording of each of several channels. */
export class Recordings implements AsyncDisposable {
  readonly channels: readonly Recording[];

  /** @param minFreeBytes  of the disk that the recordings leave free */
  constructor(channels: number, storage: RecordingStorage, minFreeBytes: number) {
    this.channels = Array.from({ length: channels }, () => new Recording(storage, minFreeBytes));
  }

  /** Passes the chunks on and writes the samples of each channel. */
  async *record(chunks: AsyncIterable<Pcm[]>): AsyncGenerator<Pcm[]> {
    for await (const chunk of chunks) {
      for (const [position, recording] of this.channels.entries()) await recording.add(chunk[position]!);
      yield chunk;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const recording of this.channels) await recording[Symbol.asyncDispose]();
  }
}
