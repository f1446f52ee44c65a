type Placed = { startSeconds: number; channel?: number };

/**
 * Puts the segments of several channels into the order in which a transcript shows them: by their starts, then by their
 * channels. Segments are passed on as soon as no later piece can contain an earlier one, so that a transcript can be
 * shown while it grows. The segments of a single channel keep the order of the engine.
 */
export class SegmentOrder<Segment extends Placed> {
  readonly #reachedSeconds: number[];
  #waiting: Segment[] = [];

  constructor(channels: number) {
    this.#reachedSeconds = new Array(channels).fill(0);
  }

  /**
   * Adds the segments of a channel's next piece, and takes out those whose place is certain.
   * @param position    the channel's position among the channels
   * @param endSeconds  the end of the piece; no segment of a later piece of the channel starts before it
   */
  add(segments: readonly Segment[], { position, endSeconds }: { position: number; endSeconds: number }): Segment[] {
    if (this.#reachedSeconds.length === 1) return [...segments];
    this.#reachedSeconds[position] = endSeconds;
    this.#waiting = [...this.#waiting, ...segments].sort(byStart);
    const certainSeconds = Math.min(...this.#reachedSeconds);
    const uncertain = this.#waiting.findIndex(({ startSeconds }) => startSeconds >= certainSeconds);
    return this.#waiting.splice(0, uncertain === -1 ? this.#waiting.length : uncertain);
  }

  /** Takes out the remaining segments, after the last piece. */
  rest(): Segment[] {
    return this.#waiting.splice(0);
  }
}

/** Compares segments by their starts, then by their channels. */
export function byStart(left: Placed, right: Placed): number {
  return left.startSeconds - right.startSeconds || (left.channel ?? 0) - (right.channel ?? 0);
}
