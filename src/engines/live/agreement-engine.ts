import type { Clock } from '../../platform/clock.ts';
import { Agreement } from '../../rules/live/agreement.ts';
import { type Engine, EngineError, type Pcm, SAMPLE_RATE, type Segment, type Word } from '../engine.ts';
import { sanitiseTranscript } from '../sanitised-transcript.ts';
import { holdsNoSpeech } from '../silence.ts';
import type { LiveDecoder, LiveDecoderOptions, LiveEngine, LiveFinal, LiveSegmentDecoder } from './live-engine.ts';
import { finalOf } from './live-final.ts';

export type AgreementOptions = {
  clock: Clock;
  /** Seconds of new audio before the open segment is transcribed again. */
  stepSeconds: number;
  /** Sessions at once. */
  sessions: number;
};

// As for the pieces of a job.
const TIMEOUT = { baseMs: 60_000, perAudioSecondMs: 4_000 };
// A pass begins when so many times its own length have passed since the last one ended: others need the engine too.
const PAUSE_FACTOR = 0.5;
const FIRST_SAMPLES = 4 * SAMPLE_RATE;

/**
 * Any engine as a live one: the open segment is transcribed again and again, and words on which two transcripts agree
 * do not change any more. The final text is one more transcript of the whole segment, so that it is what the engine
 * says of it.
 */
export function agreementEngine(engine: Engine, options: AgreementOptions): LiveEngine {
  return {
    name: engine.name,
    languages: engine.languages ?? null,
    features: engine.features ?? [],
    licence: engine.licence ?? null,
    warmUp: () => engine.warmUp(),
    capacity: () => options.sessions,
    open: (decoderOptions) => new AgreementDecoder(engine, options, decoderOptions),
    [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose](),
  };
}

class AgreementDecoder implements LiveDecoder {
  readonly engine: Engine;
  readonly options: AgreementOptions;
  readonly asked: LiveDecoderOptions;
  readonly closed = new AbortController();
  /** Samples of ended segments whose final text is not known. */
  pendingSamples = 0;

  constructor(engine: Engine, options: AgreementOptions, asked: LiveDecoderOptions) {
    this.engine = engine;
    this.options = options;
    this.asked = asked;
  }

  segment(onPartial: Parameters<LiveDecoder['segment']>[0]): LiveSegmentDecoder {
    return new AgreementSegment(this, onPartial);
  }

  backlogSeconds(): number {
    return this.pendingSamples / SAMPLE_RATE;
  }

  close(): void {
    this.closed.abort(new EngineError('engine_error', 'The session has ended.'));
  }
}

class AgreementSegment implements LiveSegmentDecoder {
  readonly #decoder: AgreementDecoder;
  readonly #onPartial: Parameters<LiveDecoder['segment']>[0];
  readonly #agreement: Agreement;
  readonly #given = new AbortController();
  #samples = new Int16Array(FIRST_SAMPLES);
  #length = 0;
  #passedAt = 0;
  #passing: Promise<void> | null = null;
  #nextPassMs = 0;
  #hasEnded = false;

  constructor(decoder: AgreementDecoder, onPartial: Parameters<LiveDecoder['segment']>[0]) {
    this.#decoder = decoder;
    this.#onPartial = onPartial;
    this.#agreement = new Agreement({ endsLoops: /whisper/i.test(decoder.engine.name) });
  }

  write(frame: Pcm): void {
    if (this.#length + frame.length > this.#samples.length) {
      const grown = new Int16Array(2 * this.#samples.length);
      grown.set(this.#samples);
      this.#samples = grown;
    }
    this.#samples.set(frame, this.#length);
    this.#length += frame.length;
    this.#passIfDue();
  }

  async end(lengthSeconds: number): Promise<LiveFinal> {
    const length = Math.min(this.#length, Math.round(lengthSeconds * SAMPLE_RATE));
    // A pass that runs goes on, and its text is dropped: an abort would end the process, and its model is loaded anew.
    this.#hasEnded = true;
    this.#decoder.pendingSamples += length;
    try {
      return finalOf(await this.#transcribe(length, this.#decoder.closed.signal));
    } finally {
      this.#decoder.pendingSamples -= length;
    }
  }

  close(): void {
    this.#given.abort(null);
  }

  #passIfDue(): void {
    const { clock, stepSeconds } = this.#decoder.options;
    const isDue = this.#length - this.#passedAt >= stepSeconds * SAMPLE_RATE && clock.now() >= this.#nextPassMs;
    if (!isDue || this.#passing !== null || this.#hasEnded || this.#given.signal.aborted) return;
    this.#passedAt = this.#length;
    this.#passing = this.#pass(clock.now()).finally(() => {
      this.#passing = null;
    });
  }

  async #pass(startMs: number): Promise<void> {
    const signal = AbortSignal.any([this.#decoder.closed.signal, this.#given.signal]);
    try {
      const segments = await this.#transcribe(this.#length, signal);
      if (signal.aborted || this.#hasEnded) return;
      const { stable, open } = this.#agreement.push(wordsOf(segments));
      this.#onPartial({ words: [...stable, ...open], stableWords: stable.length });
    } catch (error) {
      // The final transcript decides; a pass that failed is as one that was not made.
      if (!signal.aborted && !(error instanceof EngineError)) throw error;
    } finally {
      const { clock } = this.#decoder.options;
      this.#nextPassMs = clock.now() + PAUSE_FACTOR * (clock.now() - startMs);
    }
  }

  async #transcribe(length: number, signal: AbortSignal): Promise<{ segments: Segment[]; language: string | null }> {
    const { engine, asked } = this.#decoder;
    const piece = this.#samples.slice(0, length);
    if (holdsNoSpeech(piece)) return { segments: [], language: asked.language };
    const seconds = length / SAMPLE_RATE;
    const { language, prompt, keywords } = asked;
    const timeoutMs = TIMEOUT.baseMs + TIMEOUT.perAudioSecondMs * seconds;
    const context = { ...(prompt !== undefined && { prompt }), ...(keywords !== undefined && { keywords }) };
    const given = await engine.transcribe(piece, { language, ...context, timeoutMs, signal });
    return sanitiseTranscript(given, seconds);
  }
}

/** The words of engines without word times have the times of their segment. */
function wordsOf({ segments }: { segments: Segment[] }): Word[] {
  return segments.flatMap(({ words, text, startSeconds, endSeconds }) =>
    words.length > 0
      ? words
      : text
          .split(/\s+/)
          .flatMap((word) => (word === '' ? [] : [{ text: word, startSeconds, endSeconds, confidence: null }])),
  );
}
