import { HEADER_MAX_BYTES } from './plain-wav.ts';
import { WRITE_BYTES } from './storage/storage.ts';

/**
 * What is kept of a file while it arrives: all of a small file, which is in memory until it is written;
 * else its first bytes.
 */
export class FileStart {
  sizeBytes = 0;
  #chunks: Uint8Array[] = [];

  update(chunk: Uint8Array): void {
    const wasSmall = this.sizeBytes < WRITE_BYTES;
    this.sizeBytes += chunk.length;
    if (!wasSmall) return;
    this.#chunks.push(chunk);
    if (this.sizeBytes >= WRITE_BYTES) this.#chunks = [this.first()];
  }

  /** A copy of the file's first HEADER_MAX_BYTES, or of all. */
  first(): Buffer {
    return this.#copy(Math.min(this.sizeBytes, HEADER_MAX_BYTES));
  }

  /** A copy of a small file, in memory of its own; null for other files. */
  whole(): Buffer<ArrayBuffer> | null {
    return this.sizeBytes < WRITE_BYTES ? this.#copy(this.sizeBytes) : null;
  }

  #copy(bytes: number): Buffer<ArrayBuffer> {
    const copy = Buffer.allocUnsafeSlow(bytes);
    let at = 0;
    for (const chunk of this.#chunks) {
      if (at >= bytes) break;
      const part = chunk.subarray(0, bytes - at);
      copy.set(part, at);
      at += part.length;
    }
    return copy;
  }
}
