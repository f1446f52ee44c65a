import { EngineError, type Pcm } from '../../engines/engine.ts';
import type { LiveDecoder, LiveFinal, LivePartial } from '../../engines/live/live-engine.ts';
import { EngineAwayError } from '../../engines/presence/engine-presence.ts';
import type { SegmentPosition } from '../../rules/live/live-segments.ts';

type EndedSegment = { start: number; end: number };

const NO_TEXT: LiveFinal = { text: '', words: [], confidence: null, language: null };

export type DecodingOptions = {
  decoder: LiveDecoder;
  /** Where a session that is continued decodes this segment again. */
  position: SegmentPosition;
  /** Null: the engine makes no partial texts. */
  onPartial: ((partial: LivePartial) => void) | null;
  /** Frames once more, from the journal. */
  readAgain(frames: EndedSegment): AsyncIterable<Pcm>;
  /** The engine, which works, failed twice on the segment. */
  onGivenUp(cause: EngineError): void;
};

/** The decoding of one segment, which is decoded again, once, when the engine fails. */
export class SegmentDecoding {
  readonly position: SegmentPosition;
  readonly #options: DecodingOptions;
  readonly #segment: ReturnType<LiveDecoder['segment']>;
  #frames = 0;
  #hasEnded = false;
  #isClosed = false;

  constructor(options: DecodingOptions) {
    this.#options = options;
    this.position = options.position;
    const { onPartial } = options;
    this.#segment = options.decoder.segment(onPartial && ((partial) => void (this.#hasEnded || onPartial(partial))));
  }

  write(frame: Pcm): void {
    this.#frames += 1;
    this.#segment.write(frame);
  }

  /**
   * The final text; empty where the engine failed twice. @throws EngineAwayError  the segment has to be decoded later
   */
  async end(segment: EndedSegment): Promise<LiveFinal> {
    const lengthSeconds = (segment.end - segment.start) / 100;
    this.#hasEnded = true;
    try {
      return await this.#segment.end(lengthSeconds);
    } catch (cause) {
      if (!(cause instanceof EngineError) || cause instanceof EngineAwayError) throw cause;
    }
    return await this.#decodeAgain(segment.start, lengthSeconds);
  }

  close(): void {
    this.#hasEnded = true;
    this.#isClosed = true;
    this.#segment.close();
  }

  /**
   * Gives the engine all that it had the first time, also what lies after the end of the segment: the text is the same.
   */
  async #decodeAgain(start: number, lengthSeconds: number): Promise<LiveFinal> {
    if (this.#isClosed) return NO_TEXT;
    const again = this.#options.decoder.segment(this.#options.onPartial && (() => undefined));
    try {
      for await (const frame of this.#options.readAgain({ start, end: start + this.#frames })) again.write(frame);
      return await again.end(lengthSeconds);
    } catch (cause) {
      if (!(cause instanceof EngineError) || cause instanceof EngineAwayError) throw cause;
      if (!this.#isClosed) this.#options.onGivenUp(cause);
      return NO_TEXT;
    }
  }
}
