/** A word and when it was said, in seconds from the start of what was transcribed. */
export type Word = { text: string; startSeconds: number; endSeconds: number; confidence: number | null };

/** A stretch of speech. `words` is empty where the engine gives no word times. */
export type Segment = {
  text: string;
  startSeconds: number;
  endSeconds: number;
  /** 0 to 1; null where the engine gives none. */
  confidence: number | null;
  words: Word[];
};

export type Transcript = {
  segments: Segment[];
  /** BCP 47 code that the engine detected or was told; null where it does not say. */
  language: string | null;
  /** The engine may have stopped before the end of the speech: it wrote as much as it can for the piece's length. */
  isCut?: boolean;
};

/** A piece of audio: Int16Array of length frames, mono, 16 000 per second. */
export type Pcm = Int16Array;
export const SAMPLE_RATE = 16_000;

export type TranscribeOptions = {
  /** BCP 47 code, or null to detect. */
  language: string | null;
  /** The call ends by then, with EngineError `engine_timeout`; the engine is usable again afterwards. */
  timeoutMs: number;
  /** Ends the work at once; the call rejects with the signal's reason. */
  signal: AbortSignal;
};

/**
 * A speech engine: turns one piece of at most 30 s into segments. Several calls may be under way at once; at most
 * `slots` of them run, the others wait their turn in order.
 */
export type Engine = AsyncDisposable & {
  /** Shown to clients as the job's `model`. */
  name: string;
  /** Calls that run at once. */
  slots: number;
  /** The model's own codes of the languages that it knows; null, or absent, where any may be asked for. */
  languages?: readonly string[] | null;
  /** Longest piece that it hears to the end; absent: 30 s. */
  maxPieceSeconds?: number;
  /** Resolves once it has really decoded something; rejects with EngineError that says what to do. */
  warmUp(): Promise<void>;
  /** Why it cannot work for the moment; null, or absent, when nothing is known against it. */
  trouble?(): EngineError | null;
  /** Times are relative to the start of the piece. @throws EngineError */
  transcribe(piece: Pcm, options: TranscribeOptions): Promise<Transcript>;
};

export type EngineErrorType = 'engine_error' | 'engine_timeout';

/**
 * An engine that crashed, hung, answered nonsense or cannot start. The message is fit for the client, and for strangers
 * who ask /readyz; addresses and other details go in `cause`.
 */
export class EngineError extends Error {
  readonly type: EngineErrorType;
  constructor(type: EngineErrorType, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'EngineError';
    this.type = type;
  }
}
