import { HEADER_MAX_BYTES } from '../plain-wav.ts';

/** A copy of a file's first bytes, HEADER_MAX_BYTES of them or all. */
export class FileStart {
  readonly #chunks: Buffer[] = [];
  #wantedBytes = HEADER_MAX_BYTES;

  update(chunk: Uint8Array): void {
    if (this.#wantedBytes === 0) return;
    const kept = Buffer.from(chunk.subarray(0, this.#wantedBytes));
    this.#chunks.push(kept);
    this.#wantedBytes -= kept.length;
  }

  bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }
}
