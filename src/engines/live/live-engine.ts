import type { Interval } from '../../rules/transcript/intervals.ts';
import type { Engine, Pcm, TranscribeOptions, Word } from '../engine.ts';

/** The text of a segment that has ended. Times of words are seconds from the start of the segment. */
export type LiveFinal = {
  text: string;
  words: Word[];
  /** 0 to 1; null for engines without confidences. */
  confidence: number | null;
  /** BCP 47 code that was requested or detected; null when neither is known. */
  language: string | null;
  /** Speech without text, and text that repeated itself and stands once, in seconds from the start of the segment. */
  untranscribed?: readonly Interval[];
  repetitions?: readonly Interval[];
};

/** The words of an open segment so far. The first `stableWords` of them do not change any more. */
export type LivePartial = {
  words: { text: string; startSeconds: number; endSeconds: number }[];
  stableWords: number;
};

/** Called each time that the words of the open segment changed. */
export type OnPartial = (partial: LivePartial) => void;

/** Decodes one segment of speech, from frames of 10 ms: 160 samples, 16,000 per second. */
export type LiveSegmentDecoder = {
  /** Takes the next frame; never waits. */
  write(frame: Pcm): void;
  /**
   * The final text of the first seconds of what was written; more was written where the segment was cut back. No
   * partial follows.
   * @throws EngineError  when the engine failed during the segment, whose audio can then be decoded again
   */
  end(lengthSeconds: number): Promise<LiveFinal>;
  /** Gives the segment up: no partial and no final follows. */
  close(): void;
};

/**
 * The decoder of one session: segments one after the other. The end of one may be decoded while the next is written.
 */
export type LiveDecoder = {
  /** @param onPartial  null where nobody wants the words of an open segment: none are made */
  segment(onPartial: OnPartial | null): LiveSegmentDecoder;
  /** Seconds of audio that were written and are not decoded yet. */
  backlogSeconds(): number;
  close(): void;
};

export type LiveDecoderOptions = Pick<TranscribeOptions, 'language' | 'prompt' | 'keywords' | 'jobId' | 'traceparent'>;

/** A speech engine that gives text while somebody speaks. No state of the engine crosses the end of a segment. */
export type LiveEngine = AsyncDisposable &
  Pick<Engine, 'name' | 'languages' | 'features' | 'licence' | 'maxPieceSeconds' | 'warmUp'> & {
    /** Sessions that it serves at once on this machine. */
    capacity(): number;
    open(options: LiveDecoderOptions): LiveDecoder;
  };
