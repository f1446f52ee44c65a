import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import { NO_TRACER, type Tracer } from '../../platform/tracing/tracer.ts';
import { faultOf } from '../../rules/fault.ts';
import type { ModelRequest } from '../../rules/jobs/choose-model.ts';
import { spokenLetters } from '../../rules/transcript/text-amount.ts';
import {
  type Absence,
  type Engine,
  EngineError,
  type Pcm,
  SAMPLE_RATE,
  type TranscribeOptions,
  type Transcript,
} from '../engine.ts';
import { sanitiseTranscript } from '../sanitised-transcript.ts';
import { CallsUnderWay } from './calls-under-way.ts';
import { NO_WORDS, probe } from './probe.ts';

/** The engine does not work: no audio is at fault, and the same call may succeed once the engine is back. */
export class EngineAwayError extends EngineError {
  constructor(cause: EngineError) {
    super(cause.type, cause.message, { cause, failure: { kind: 'away' } });
    this.name = 'EngineAwayError';
  }
}

type PresenceOptions = {
  clock: Clock;
  log: Log;
  /** Absent: no spans. */
  tracer?: Tracer;
  /** Resolves when the engine works. @throws EngineError */
  probe?: (engine: Engine, signal: AbortSignal) => Promise<void>;
  /** Of an engine that is not known to work yet. */
  absence?: Absence | null;
};

/** A piece fails when the engine failed on it so often, while it passed each probe in between. */
const TRIES = 3;
const POLL_MS = 1_000;
// A check of a remote server connects to it; one of a local engine transcribes a second of sound.
const CHECK_EVERY_MS = 60_000;
const PROBE_EVERY_MS = { least: 1_000, most: 30_000, mostWithoutModel: 5_000 };
/**
 * Words, and a probe that passed, show that an engine gives words, for so long and for so many pieces in a row that get
 * none: some speech is unclear, or in a language that the engine does not know. The next piece has it probed.
 */
const KNOWN_TO_GIVE_WORDS = { ms: 60_000, pieces: 2 };
/** From one such probe that passed to the next: where all audio is unclear, they take little of the engine's time. */
const WORDS_PROBE_EVERY_MS = 10_000;

/**
 * An engine, and whether it works now. After each failed call a probe decides whose fault that was. If the engine
 * fails the probe, it is away: the call rejects with EngineAwayError, and the probe is repeated until it passes. If it
 * passes the probe, the call is made again, three times in all. From a failure that looks like the engine's until the
 * probe has passed, the engine counts as away, so that no job is claimed for it. Words that another call under way
 * gets are as good as a probe, which may have to wait behind that call.
 */
export class EnginePresence implements Engine {
  readonly #engine: Engine;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #tracer: Tracer;
  readonly #probe: NonNullable<PresenceOptions['probe']>;
  readonly #closing = new AbortController();
  #absence: Absence | null;
  /** It has worked: before that, being opened shows that it works, without a call that a speech server may charge. */
  #isOpened: boolean;
  #probing: Promise<boolean> | null = null;
  #underWay = 0;
  readonly #calls = new CallsUnderWay();
  readonly #watchedModels = new WeakMap<Engine, Engine>();
  #lastAnswerAtMs: number;
  /** Pieces with speech that got no words since the engine gave some last. */
  #wordless = 0;
  #gaveWordsAtMs = Number.NEGATIVE_INFINITY;
  #askedForWordsAtMs = Number.NEGATIVE_INFINITY;

  constructor(engine: Engine, options: PresenceOptions) {
    this.#engine = engine;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#tracer = options.tracer ?? NO_TRACER;
    this.#probe = options.probe ?? probe;
    this.#absence = options.absence ?? null;
    this.#isOpened = this.#absence === null;
    this.#lastAnswerAtMs = options.clock.now();
  }

  get name() {
    return this.#engine.name;
  }
  get slots() {
    return this.#engine.slots;
  }
  get languages() {
    return this.#engine.languages ?? null;
  }
  get features() {
    return this.#engine.features ?? [];
  }
  get licence() {
    return this.#engine.licence ?? null;
  }
  get isCalibrated() {
    return this.#engine.isCalibrated ?? false;
  }
  get maxPieceSeconds() {
    return this.#engine.maxPieceSeconds;
  }

  /** The model that gets these requests, as this engine is watched: the same object for the same model. */
  serving(request: ModelRequest): Engine {
    const model = this.#engine.serving?.(request) ?? this.#engine;
    if (model === this.#engine) return this;
    let watched = this.#watchedModels.get(model);
    if (watched === undefined) this.#watchedModels.set(model, (watched = this.#watch(model)));
    return watched;
  }

  #watch(model: Engine): Engine {
    return {
      name: model.name,
      slots: model.slots,
      languages: model.languages ?? null,
      features: model.features ?? [],
      licence: model.licence ?? null,
      get isCalibrated() {
        return model.isCalibrated ?? false;
      },
      get maxPieceSeconds() {
        return model.maxPieceSeconds;
      },
      warmUp: () => this.warmUp(),
      absence: () => this.absence(),
      gaveNoWords: (signal) => this.gaveNoWords(signal),
      transcribe: (piece, options) => this.transcribe(piece, options),
      // The model ends with the engine.
      [Symbol.asyncDispose]: async () => undefined,
    };
  }

  /** Null while the engine works. */
  absence(): Absence | null {
    return this.#absence;
  }

  warmUp(): Promise<void> {
    return this.#engine.warmUp();
  }

  /**
   * As of the engine.
   * @throws EngineAwayError  when the engine does not work
   * @throws EngineError      when it works, and failed on this piece three times
   */
  async transcribe(piece: Pcm, options: TranscribeOptions): Promise<Transcript> {
    this.#underWay += 1;
    try {
      for (let tries = 1; ; tries += 1) {
        const failure = await this.#calls.during((tellWords) => this.#tryOnce(piece, options, tellWords));
        if (!(failure instanceof EngineError)) return failure;
        if (!(await this.#isAtWork(failure, options.signal))) throw new EngineAwayError(failure);
        // The piece was given to three processes already.
        if (tries === TRIES || failure.failure.kind === 'died') throw failedOnPiece(failure);
      }
    } finally {
      this.#underWay -= 1;
    }
  }

  /**
   * Reports that the engine gave no words for a piece with detected speech, also when it was tried again in parts.
   * Resolves when that may be for the audio's sake.
   * @throws EngineAwayError  when the engine gives none to a probe either
   */
  async gaveNoWords(signal: AbortSignal): Promise<void> {
    this.#wordless += 1;
    if (this.#probing === null) {
      if (this.#absence !== null) throw new EngineAwayError(this.#absence.cause);
      if (!this.#isToBeAskedForWords()) return;
      this.#askedForWordsAtMs = this.#clock.now();
    }
    const failure = new EngineError('engine_error', NO_WORDS, { failure: { kind: 'words' } });
    if (!(await this.#passes(failure, signal))) throw new EngineAwayError(this.#absence?.cause ?? failure);
  }

  /** Probes the engine while it is away, and checks it while it is idle, until the signal aborts. */
  async watch(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (this.#absence !== null) {
        await this.#passesProbe(this.#absence.cause, signal);
        if (this.#absence !== null) await this.#clock.sleep(this.#pauseMs(this.#absence), signal);
        continue;
      }
      await this.#clock.sleep(POLL_MS, signal);
      const isIdle = this.#underWay === 0 && this.#clock.now() - this.#lastAnswerAtMs >= CHECK_EVERY_MS;
      if (isIdle && !signal.aborted) await unlessAborted(this.#check(), signal);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(
      new EngineError('engine_error', 'The speech engine is closed.', { failure: { kind: 'start' } }),
    );
    await this.#engine[Symbol.asyncDispose]();
  }

  /** The transcript, or the failure that a probe has to explain. Rejects for all others. */
  async #tryOnce(piece: Pcm, options: TranscribeOptions, tellWords: () => void): Promise<Transcript | EngineError> {
    try {
      const given = await this.#call(piece, options);
      const transcript = sanitiseTranscript(given, piece.length / SAMPLE_RATE);
      // An engine gives no segments for silence without being used, and some give marks for anything.
      if (transcript.segments.some(({ text }) => spokenLetters(text) > 0)) {
        this.#gaveWords();
        tellWords();
      }
      return transcript;
    } catch (error) {
      options.signal.throwIfAborted();
      if (!(error instanceof EngineError) || error.failure.kind === 'request') throw error;
      return error;
    }
  }

  /** A call of the engine, as a span of the trace of its job. */
  async #call(piece: Pcm, options: TranscribeOptions): Promise<Transcript> {
    const seconds = piece.length / SAMPLE_RATE;
    const attributes = { engine: this.name, job_id: options.jobId, audio_seconds: seconds };
    const parent = options.traceparent ?? null;
    const span = this.#tracer.start('engine call', { kind: 'client', parent, attributes });
    const traced = span.traceparent === null ? options : { ...options, traceparent: span.traceparent };
    try {
      const transcript = await this.#engine.transcribe(piece, traced);
      span.end();
      return transcript;
    } catch (error) {
      span.end({}, (error as Partial<Error> | undefined)?.name ?? 'failed');
      throw error;
    }
  }

  async #isAtWork(failure: EngineError, signal: AbortSignal): Promise<boolean> {
    if (faultOf(failure) === 'engine') this.#absent(failure);
    return await this.#passes(failure, signal);
  }

  #isToBeAskedForWords(): boolean {
    const nowMs = this.#clock.now();
    const { ms, pieces } = KNOWN_TO_GIVE_WORDS;
    const isDoubtful = this.#wordless > pieces || nowMs - this.#gaveWordsAtMs >= ms;
    return isDoubtful && nowMs - this.#askedForWordsAtMs >= WORDS_PROBE_EVERY_MS;
  }

  async #passes(failure: EngineError, signal: AbortSignal): Promise<boolean> {
    const passes = await unlessAborted(this.#passesProbe(failure, this.#closing.signal), signal);
    signal.throwIfAborted();
    return passes === true;
  }

  /** Calls at the same time share a probe. */
  #passesProbe(failure: EngineError, signal: AbortSignal): Promise<boolean> {
    this.#probing ??= this.#ask(signal)
      .catch((error: unknown) => {
        if (!signal.aborted) this.#absent(error instanceof EngineError ? error : failure);
      })
      .then(() => this.#absence === null)
      .finally(() => {
        this.#probing = null;
      });
    return this.#probing;
  }

  async #ask(signal: AbortSignal): Promise<void> {
    if (!this.#isOpened) {
      await this.#engine.warmUp();
      return this.#works();
    }
    if (await unlessAborted(this.#calls.giveWords(), signal)) return this.#works();
    signal.throwIfAborted();
    await this.#probe(this.#engine, signal);
    this.#gaveWords();
  }

  async #check(): Promise<void> {
    this.#lastAnswerAtMs = this.#clock.now();
    await this.#engine.warmUp().catch((error: unknown) => {
      if (error instanceof EngineError) this.#absent(error);
      else throw error;
    });
  }

  #gaveWords(): void {
    this.#wordless = 0;
    this.#gaveWordsAtMs = this.#clock.now();
    this.#works();
  }

  #works(): void {
    this.#lastAnswerAtMs = this.#clock.now();
    this.#isOpened = true;
    if (this.#absence === null) return;
    const awayMs = this.#clock.now() - this.#absence.sinceMs;
    this.#log.info({ engine: this.name, away_ms: awayMs }, 'the engine works');
    this.#absence = null;
  }

  #absent(cause: EngineError): void {
    // Without a model: what fetches the first one logs how far that is.
    if (cause.failure.kind === 'model') {
      if (this.#absence?.cause.failure.kind !== 'model') this.#log.info('no model yet; jobs wait');
    } else if (this.#absence?.cause.message !== cause.message) {
      this.#log.warn({ engine: this.name, err: cause }, 'the engine does not work; its jobs wait');
    }
    this.#absence = { sinceMs: this.#absence?.sinceMs ?? this.#clock.now(), cause };
  }

  /** A tenth of the absence so far: what is away for a moment is soon back. */
  #pauseMs({ sinceMs, cause }: Absence): number {
    const { least, most, mostWithoutModel } = PROBE_EVERY_MS;
    const atMost = cause.failure.kind === 'model' ? mostWithoutModel : most;
    return Math.min(atMost, Math.max(least, (this.#clock.now() - sinceMs) / 10));
  }
}

/** What a server answers is shown to clients only as far as it is about their audio. */
function failedOnPiece(failure: EngineError): EngineError {
  const { kind } = failure.failure;
  if (kind !== 'status' && kind !== 'connection') return failure;
  return new EngineError(failure.type, 'The speech server failed on this audio.', { cause: failure });
}

/** Null when the signal aborts before the work has ended. */
function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result | null> {
  const { promise, resolve } = Promise.withResolvers<null>();
  const stop = () => resolve(null);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', stop));
}
