type Chunk = { at: number; bytes: Uint8Array };

/**
 * The audio of a session that the service has not acknowledged. Offsets are bytes since the start of the session. When
 * there is more than `maxBytes`, the oldest is dropped.
 */
export class LiveAudio {
  readonly #maxBytes: number;
  #chunks: Chunk[] = [];
  #start = 0;
  #end = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The offset of the first byte that is kept. */
  get start(): number {
    return this.#start;
  }

  get end(): number {
    return this.#end;
  }

  get length(): number {
    return this.#end - this.#start;
  }

  /** Adds a copy of the bytes. Whether older ones were dropped. */
  push(bytes: Uint8Array): boolean {
    if (bytes.length === 0) return false;
    this.#chunks.push({ at: this.#end, bytes: bytes.slice() });
    this.#end += bytes.length;
    if (this.length <= this.#maxBytes) return false;
    this.dropTo(this.#end - this.#maxBytes);
    return true;
  }

  /** Forgets the bytes before an offset. */
  dropTo(offset: number): void {
    this.#start = Math.max(this.#start, Math.min(offset, this.#end));
    const first = this.#chunks.findIndex(({ at, bytes }) => at + bytes.length > this.#start);
    this.#chunks = first < 0 ? [] : first === 0 ? this.#chunks : this.#chunks.slice(first);
  }

  /** Bytes from an offset that is kept, at most this number; at least one where there are any. */
  read(offset: number, maxBytes: number): Uint8Array {
    const chunk = this.#chunks[this.#indexAt(offset)];
    if (!chunk) return new Uint8Array(0);
    const from = offset - chunk.at;
    return chunk.bytes.subarray(from, Math.min(chunk.bytes.length, from + maxBytes));
  }

  /** The last chunk that does not begin after the offset. */
  #indexAt(offset: number): number {
    let [low, high] = [0, this.#chunks.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.#chunks[middle]!.at <= offset) low = middle;
      else high = middle;
    }
    return low;
  }
}
