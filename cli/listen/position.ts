/**
 * Where to go on after a restart: behind the last frame before which everything is done. Frames end in any order.
 */
export class Position {
  readonly #frames: { resumeId: string | null; isDone: boolean }[] = [];
  #resumeId: string | null = null;

  /** A frame has come. Call the result once it is done. */
  begin(resumeId: string | null): () => void {
    const frame = { resumeId, isDone: false };
    this.#frames.push(frame);
    return () => {
      frame.isDone = true;
      while (this.#frames[0]?.isDone) this.#resumeId = this.#frames.shift()!.resumeId ?? this.#resumeId;
    };
  }

  /** Null until the first frame is done. */
  get resumeId(): string | null {
    return this.#resumeId;
  }
}
