import type { EngineFailure } from '../rules/fault.ts';
import type { ModelRequest } from '../rules/jobs/choose-model.ts';

/** A word with its times in seconds from the start of the piece. */
export type Word = {
  text: string;
  startSeconds: number;
  endSeconds: number;
  confidence: number | null;
  /** The engine gives it no times: they are shared out between those of its neighbours. */
  estimated?: true;
  /** Absent where speakers were not asked for; null where they are unknown. */
  speaker?: string | null;
  /** From 0; absent where the channels were mixed. */
  channel?: number;
};

/** A sentence or a phrase. `words` is empty for engines without word times. */
export type Segment = {
  text: string;
  startSeconds: number;
  endSeconds: number;
  /** 0 to 1; null for engines without confidences. */
  confidence: number | null;
  /** The share of its time in which no speech was detected, 0 to 1; absent without a voice detector. */
  noSpeechShare?: number;
  /** As in words. */
  speaker?: string | null;
  channel?: number;
  words: Word[];
};

export type Transcript = {
  segments: Segment[];
  /** BCP 47 code that was requested or detected; null when neither is known. */
  language: string | null;
  /** The text may lack the end of the piece: it is as long as the engine's limit for the piece's length. */
  isCut?: boolean;
  /** The engine wrote errors during the call: the text may lack words. */
  hasErrors?: boolean;
};

/** Samples of 16 bits, mono, 16 000 per second. */
export type Pcm = Int16Array;
export const SAMPLE_RATE = 16_000;

export type TranscribeOptions = {
  /** BCP 47 code, or null to detect. */
  language: string | null;
  /** Context, and words to know; ignored by engines without the feature. */
  prompt?: string | undefined;
  keywords?: readonly string[] | undefined;
  /** The language of the text, where it is not the spoken one: engines with the feature `translate` only. */
  translateTo?: 'en' | null | undefined;
  /** For the log. */
  jobId?: string | undefined;
  /** The trace of the request that made the job (W3C Trace Context): speech servers are sent it. */
  traceparent?: string | undefined;
  /** The call then fails with EngineError `engine_timeout`; the engine can be used again. */
  timeoutMs: number;
  /** Ends the call at once; it rejects with the signal's reason. */
  signal: AbortSignal;
};

/** What some engines do besides giving text. */
const ENGINE_FEATURES = ['words', 'confidence', 'prompt', 'keywords', 'translate'] as const;
export type EngineFeature = (typeof ENGINE_FEATURES)[number];

/**
 * What plans do besides giving text, listed at GET /v1/models:
 * `diarize` where the speaker model works beside the engine.
 */
export const PLAN_FEATURES = [...ENGINE_FEATURES, 'diarize'] as const;
export type PlanFeature = (typeof PLAN_FEATURES)[number];

/** The licence of a model, and whom it asks to name. */
export type Licence = { name: string; attribution: string };

/**
 * A speech engine: transcribes pieces of at most 30 s. Of several calls at once, at most `slots` run; the others wait
 * in order of arrival.
 */
export type Engine = AsyncDisposable & {
  /** Shown to clients as the job's `model`. */
  name: string;
  /** Calls that run at once. */
  slots: number;
  /** The languages that the model knows, in its own codes; null or absent for an engine that takes any. */
  languages?: readonly string[] | null;
  /**
   * `words`: words with times; `confidence`: of words and segments; `prompt`, `keywords`: takes them into account;
   * `translate`: into English. A speech server may lack what its API has. Absent: none.
   */
  features?: readonly EngineFeature[];
  /** Absent when unknown. */
  licence?: Licence | null;
  /** The longest piece that it transcribes in full; 30 s when absent. */
  maxPieceSeconds?: number;
  /** It has returned the words of a sample of speech. Absent: not tried. */
  isCalibrated?: boolean;
  /**
   * Resolves once the engine has transcribed a test signal, or a remote server accepts connections.
   * @throws EngineError
   */
  warmUp(): Promise<void>;
  /** Null while the engine works, as far as is known; of an engine that is watched (`EnginePresence`). */
  absence?(): Absence | null;
  /** Told of a piece with detected speech that got no words; of an engine that is watched. @throws EngineAwayError */
  gaveNoWords?(signal: AbortSignal): Promise<void>;
  /** Of several models that serve together, the one that gets these requests. Absent: there is one. */
  serving?(request: ModelRequest): Engine;
  /** Times are relative to the start of the piece. @throws EngineError */
  transcribe(piece: Pcm, options: TranscribeOptions): Promise<Transcript>;
};

/** Since when an engine does not work, by the clock of the process, and what it did last. */
export type Absence = { sinceMs: number; cause: EngineError };

export type EngineErrorType = 'engine_error' | 'engine_timeout';

/**
 * An engine that crashed, timed out, gave an invalid answer or cannot start. The message is public: clients and /readyz
 * show it. Addresses and other details belong in `cause`. `faultOf` decides by the `failure` whose fault it is.
 */
export class EngineError extends Error {
  readonly type: EngineErrorType;
  readonly failure: EngineFailure;
  /** @param failure  default: `timeout` for `engine_timeout`, else `piece` */
  constructor(type: EngineErrorType, message: string, options: ErrorOptions & { failure?: EngineFailure } = {}) {
    super(message, options);
    this.name = 'EngineError';
    this.type = type;
    this.failure = options.failure ?? { kind: type === 'engine_timeout' ? 'timeout' : 'piece' };
  }
}
