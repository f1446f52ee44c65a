import { createHash } from 'node:crypto';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { type Pack, pack } from 'tar-stream';
import type { Manifest } from './contents.ts';

// Level 1 halves rows and WAV files already; higher levels take several times as long.
const GZIP_LEVEL = 1;

/**
 * Writes the files of a backup one after another, as a tar archive that gzip has compressed, and remembers their
 * hashes.
 */
export class ArchiveWriter {
  readonly #pack: Pack = pack();
  readonly #written: Promise<void>;
  readonly files: Manifest['files'] = [];

  constructor(target: Writable) {
    this.#written = pipeline(this.#pack, createGzip({ level: GZIP_LEVEL }), target);
    // Whoever writes or finishes gets the error.
    this.#written.catch((error: Error) => this.#pack.destroy(error));
  }

  async add(name: string, content: Buffer): Promise<void> {
    await this.addStream(name, content.length, Readable.from([content]));
  }

  /** @param bytes  the length of the content; the stream is cut there, and it is an error if it is shorter */
  async addStream(name: string, bytes: number, content: Readable): Promise<void> {
    const hash = createHash('sha256');
    const entry = this.#pack.entry({ name, size: bytes, mode: 0o600 });
    await pipeline(
      content,
      async function* hashed(chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          hash.update(chunk);
          yield chunk;
        }
      },
      entry,
    );
    this.files.push({ name, bytes, sha256: hash.digest('hex') });
  }

  /** Ends the archive, and resolves when the target has taken all of it. */
  async finish(): Promise<void> {
    this.#pack.finalize();
    await this.#written;
  }
}
