import type { FileHandle } from 'node:fs/promises';
import type { AudioStorage } from '../../audio/storage/storage.ts';
import type { Pcm } from '../../engines/engine.ts';
import type { SpokenAudio } from '../../engines/speakers/speakers.ts';

export type RecordingStorage = Pick<AudioStorage, 'freeBytes' | 'openScratch'>;

// 17 minutes of audio: free disk is read that often.
const CHECK_EVERY_BYTES = 32 * 2 ** 20;

/**
 * The decoded audio of a job in a file, kept while the audio is transcribed, because speakers are found in the whole of it:
 * 32 kB for each second, 461 MB for four hours.
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

  /** Passes the chunks on and writes them. A failure of the disk ends the recording, never the chunks. */
  async *record(pcm: AsyncIterable<Pcm>): AsyncGenerator<Pcm> {
    for await (const chunk of pcm) {
      if (this.#failure === null) {
        await this.#write(chunk).catch((cause: unknown) => {
          this.#failure = cause;
        });
      }
      yield chunk;
    }
  }

  /** The audio that was recorded. @throws Error  when it could not be written, or there is none */
  audio(): SpokenAudio {
    if (this.#failure !== null) throw this.#failure;
    if (this.#file === null) throw new Error('nothing was recorded');
    return { file: this.#file, samples: this.#bytes / Int16Array.BYTES_PER_ELEMENT };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file?.close();
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
