import { EngineError, type Pcm } from '../../engines/engine.ts';
import type { LiveDecoder, LiveFinal, OnPartial } from '../../engines/live/live-engine.ts';
import { EngineAwayError } from '../../engines/presence/engine-presence.ts';
import type { SegmentPosition } from '../../rules/live/live-segments.ts';

type EndedSegment = { start: number; end: number };

const NO_TEXT: LiveFinal = { text: '', words: [], confidence: null, language: null };

export type DecodingOptions = {
  decoder: LiveDecoder;
  /** Where a session that is continued decodes this segment again. */
  position: SegmentPosition;
  /** Null: the engine makes no partial texts. */
  onPartial: OnPartial | null;
  /** Aborts when the session is over. */
  over: AbortSignal;
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

  constructor(options: DecodingOptions) {
    this.#options = options;
    this.position = options.position;
    this.#segment = options.decoder.segment(options.onPartial);
  }

  write(frame: Pcm): void {
    this.#frames += 1;
    this.#segment.write(frame);
  }

  /**
   * The final text; empty where the engine failed twice. @throws EngineAwayError  the segment has to be decoded later
   */
  async end({ start, end }: EndedSegment): Promise<LiveFinal> {
    const { decoder, onPartial, over, readAgain, onGivenUp } = this.#options;
    const lengthSeconds = (end - start) / 100;
    try {
      return await this.#segment.end(lengthSeconds);
    } catch (cause) {
      throwIfAway(cause);
    }
    if (over.aborted) return NO_TEXT;
    // The engine is given all that it had the first time, also what lies after the end of the segment, and makes
    // partial texts where it did: the text is the same.
    const again = decoder.segment(onPartial && (() => undefined));
    try {
      for await (const frame of readAgain({ start, end: start + this.#frames })) again.write(frame);
      return await again.end(lengthSeconds);
    } catch (cause) {
      throwIfAway(cause);
      if (!over.aborted) onGivenUp(cause);
      return NO_TEXT;
    }
  }

  /** Gives the segment up. */
  close(): void {
    this.#segment.close();
  }
}

/** Throws what is no failure of the engine on this segment. */
function throwIfAway(cause: unknown): asserts cause is EngineError {
  if (!(cause instanceof EngineError) || cause instanceof EngineAwayError) throw cause;
}
