import type { Clock } from '../../platform/clock.ts';
import { BOUNDS } from '../../rules/bounds.ts';
import { Agreement } from '../../rules/live/agreement.ts';
import { joinWords } from '../../rules/text/word-places.ts';
import { type Engine, EngineError, type Pcm, SAMPLE_RATE, type Segment, type Word } from '../engine.ts';
import { mayBeSpoken, transcribeSpeech } from '../evidence/transcribe-speech.ts';
import { EngineAwayError } from '../presence/engine-presence.ts';
import { sanitiseTranscript } from '../sanitised-transcript.ts';
import { holdsNoSpeech } from '../silence.ts';
import type { VoiceDetector } from '../vad/vad.ts';
import type {
  LiveDecoder,
  LiveDecoderOptions,
  LiveEngine,
  LiveFinal,
  LiveSegmentDecoder,
  OnPartial,
} from './live-engine.ts';
import { judgedFinal } from './live-final.ts';
import { findSegmentSpeech, SegmentAudio } from './segment-audio.ts';

export type AgreementOptions = {
  clock: Clock;
  /** Seconds of new audio before the open segment is transcribed again. Default: 1. */
  stepSeconds?: number;
  /** Sessions at once. */
  sessions: number;
  /** Finds the speech that the engine is given; null without its model. */
  detector: Pick<VoiceDetector, 'find'> | null;
  /** What an ended segment does while the engine is away: it waits, or it fails with EngineAwayError. Default: wait. */
  whileAway?: 'wait' | 'fail';
};

// The pause after a pass, in lengths of the pass: others need the engine too.
const PAUSE_FACTOR = 0.5;
/** Between two tries while the engine is away. */
const AWAY_PAUSE_MS = 1_000;

/**
 * Any engine as a live one: the open segment is transcribed again and again, and words on which two transcripts agree
 * do not change any more. The final text is one more transcript of the whole segment, compared with the speech that was
 * detected in it (`transcribeSpeech`). While the engine is away, ended segments wait for it, and open ones have no
 * pass.
 * @param engine  watched (`EnginePresence`): only it knows whether the engine is away, or fails on this audio
 */
export function agreementEngine(engine: Engine, options: AgreementOptions): LiveEngine {
  return {
    name: engine.name,
    languages: engine.languages ?? null,
    features: engine.features ?? [],
    licence: engine.licence ?? null,
    get maxPieceSeconds() {
      return engine.maxPieceSeconds ?? Number.POSITIVE_INFINITY;
    },
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

  segment(onPartial: OnPartial | null): LiveSegmentDecoder {
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
  readonly #onPartial: OnPartial | null;
  readonly #agreement = new Agreement();
  #stableText = '';
  readonly #given = new AbortController();
  readonly #audio = new SegmentAudio();
  #passedAt = 0;
  /** The pass that runs, with the pause after it. */
  #passing: Promise<void> | null = null;
  #hasEnded = false;

  constructor(decoder: AgreementDecoder, onPartial: OnPartial | null) {
    this.#decoder = decoder;
    this.#onPartial = onPartial;
  }

  write(frame: Pcm): void {
    this.#audio.write(frame);
    this.#passIfDue();
  }

  async end(lengthSeconds: number): Promise<LiveFinal> {
    const piece = this.#audio.first(lengthSeconds);
    // A pass that runs goes on, and its text is dropped: an abort would end the process, and its model is loaded anew.
    this.#hasEnded = true;
    this.#decoder.pendingSamples += piece.length;
    try {
      return await this.#final(piece);
    } finally {
      this.#decoder.pendingSamples -= piece.length;
    }
  }

  close(): void {
    this.#given.abort(null);
  }

  async #final(piece: Pcm): Promise<LiveFinal> {
    const { signal } = this.#decoder.closed;
    const { clock, detector, whileAway = 'wait' } = this.#decoder.options;
    const speech = await findSegmentSpeech(detector, piece, signal);
    while (true) {
      try {
        const heard = await transcribeSpeech(this.#decoder.engine, piece, speech, this.#optionsFor(piece, signal));
        return judgedFinal(heard, { stableText: this.#stableText, seconds: piece.length / SAMPLE_RATE });
      } catch (error) {
        if (signal.aborted || !(error instanceof EngineAwayError) || whileAway === 'fail') throw error;
      }
      await clock.sleep(AWAY_PAUSE_MS, signal);
      signal.throwIfAborted();
    }
  }

  #passIfDue(): void {
    const { stepSeconds = 1 } = this.#decoder.options;
    const isDue = this.#audio.length - this.#passedAt >= stepSeconds * SAMPLE_RATE;
    const isClosed = this.#hasEnded || this.#given.signal.aborted || this.#decoder.closed.signal.aborted;
    if (this.#onPartial === null || !isDue || this.#passing !== null || isClosed) return;
    this.#passing = this.#pass().finally(() => {
      this.#passing = null;
      // Of audio that came meanwhile, or waited for the engine: there may come no more.
      this.#passIfDue();
    });
  }

  async #pass(): Promise<void> {
    const { clock } = this.#decoder.options;
    const signal = AbortSignal.any([this.#decoder.closed.signal, this.#given.signal]);
    if (this.#decoder.engine.absence?.() != null) return await clock.sleep(AWAY_PAUSE_MS, signal);
    const passedBefore = this.#passedAt;
    this.#passedAt = this.#audio.length;
    const startMs = clock.now();
    try {
      const segments = await this.#transcribe(this.#audio.first(), signal);
      if (signal.aborted || this.#hasEnded) return;
      const { stable, open } = this.#agreement.push(wordsOf(segments));
      this.#stableText = joinWords(stable);
      this.#onPartial?.({ words: [...stable, ...open], stableWords: stable.length });
    } catch (error) {
      // The final transcript decides; a pass that failed is as one that was not made.
      if (!signal.aborted && !(error instanceof EngineError)) throw error;
      if (error instanceof EngineAwayError) {
        this.#passedAt = passedBefore;
        return await clock.sleep(AWAY_PAUSE_MS, signal);
      }
    }
    await clock.sleep(PAUSE_FACTOR * (clock.now() - startMs), signal);
  }

  /** Of an open segment: what is wrong with the text shows when the segment has ended. */
  async #transcribe(piece: Pcm, signal: AbortSignal): Promise<{ segments: Segment[] }> {
    const {
      engine,
      options: { detector },
    } = this.#decoder;
    if (holdsNoSpeech(piece)) return { segments: [] };
    const speech = await findSegmentSpeech(detector, piece, signal);
    if (!mayBeSpoken(engine, piece, speech)) return { segments: [] };
    const options = this.#optionsFor(piece, signal);
    const seconds = piece.length / SAMPLE_RATE;
    // Only a client that ends its segments itself makes such long ones.
    if (seconds > (engine.maxPieceSeconds ?? Number.POSITIVE_INFINITY)) {
      return (await transcribeSpeech(engine, piece, speech, options)).transcript;
    }
    return sanitiseTranscript(await engine.transcribe(piece, options), seconds);
  }

  #optionsFor(piece: Pcm, signal: AbortSignal) {
    const timeoutMs = BOUNDS.pieceMs + (BOUNDS.piecePerAudioSecondMs * piece.length) / SAMPLE_RATE;
    return { ...this.#decoder.asked, timeoutMs, signal };
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
