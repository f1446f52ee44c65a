import type { AudioChunk } from '../../jobs/live/live-store.ts';

// What a gap costs in memory and as a row.
const GAP_BYTES = 512;
// Rows of this size are read again in small steps.
const CHUNK_MAX_BYTES = 65_536;
const FIRST_TAIL_BYTES = 8_192;

/**
 * The audio of a session that waits for the journal, in chunks of at most 64 KiB however small the parts are that come.
 */
export class PendingAudio {
  #chunks: AudioChunk[] = [];
  #tail = Buffer.alloc(0);
  #tailLength = 0;
  #end: number;

  /** @param end  bytes of the session that were stored before */
  constructor(end: number) {
    this.#end = end;
  }

  /** Bytes of the session, gaps included. */
  get end(): number {
    return this.#end;
  }

  /** Bytes that wait, with some for each gap. */
  get size(): number {
    return this.#chunks.reduce((sum, { bytes }) => sum + (bytes.length || GAP_BYTES), this.#tailLength);
  }

  append(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      const part = bytes.subarray(at, at + CHUNK_MAX_BYTES - this.#tailLength);
      this.#reserve(this.#tailLength + part.length);
      this.#tail.set(part, this.#tailLength);
      this.#tailLength += part.length;
      this.#end += part.length;
      at += part.length;
      if (this.#tailLength === CHUNK_MAX_BYTES) this.#seal();
    }
  }

  skip(bytes: number): void {
    this.#seal();
    this.#chunks.push({ startByte: this.#end, length: bytes, bytes: Buffer.alloc(0) });
    this.#end += bytes;
  }

  /** All that waits. It goes on waiting until it is dropped. */
  chunks(): AudioChunk[] {
    this.#seal();
    return [...this.#chunks];
  }

  /** Forgets the oldest chunks. */
  drop(chunks: number): void {
    this.#chunks.splice(0, chunks);
  }

  #reserve(size: number): void {
    if (this.#tail.length >= size) return;
    const grown = Buffer.allocUnsafe(
      Math.min(CHUNK_MAX_BYTES, Math.max(size, 2 * this.#tail.length, FIRST_TAIL_BYTES)),
    );
    grown.set(this.#tail.subarray(0, this.#tailLength));
    this.#tail = grown;
  }

  #seal(): void {
    if (this.#tailLength === 0) return;
    const bytes = this.#tail.subarray(0, this.#tailLength);
    this.#chunks.push({ startByte: this.#end - this.#tailLength, length: this.#tailLength, bytes });
    this.#tail = Buffer.alloc(0);
    this.#tailLength = 0;
  }
}
