import { openReplacer, type Replacement } from './replacements.ts';

/** Text may grow by replacements to twice its size and this. */
const FREE_GROWTH_BYTES = 256 * 1024;
const MAX_GROWTH_FACTOR = 2;

type Replace = ReturnType<typeof openReplacer>;
type Segment = Parameters<Replace>[0];

/**
 * Applies replacements to the pieces of a transcript, in their order, until its text would have more than twice the
 * bytes of what was spoken and 256 KiB. That piece, and all after it, keep the spoken words: nothing is lost.
 */
export class BoundedReplacer {
  readonly #replace: Replace;
  readonly #freeBytes: number;
  #spokenBytes = 0;
  #writtenBytes = 0;
  #isFull = false;

  /** @param replacements  as for `openReplacer` */
  constructor(replacements: readonly Replacement[], freeBytes = FREE_GROWTH_BYTES) {
    this.#replace = openReplacer(replacements);
    this.#freeBytes = freeBytes;
  }

  /** The segments of the next piece with the replacements; null when they have to stay as they are. */
  replace<Spoken extends Segment>(segments: readonly Spoken[]): Spoken[] | null {
    if (this.#isFull) return null;
    const replaced = segments.map((segment) => this.#replace(segment));
    this.#spokenBytes += bytesOf(segments);
    this.#writtenBytes += bytesOf(replaced);
    this.#isFull = this.#writtenBytes > MAX_GROWTH_FACTOR * this.#spokenBytes + this.#freeBytes;
    return this.#isFull ? null : replaced;
  }
}

function bytesOf(segments: readonly Segment[]): number {
  return segments.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
}
