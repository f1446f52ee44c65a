import { joinWords } from '../../rules/text/word-places.ts';
import type { Interval } from '../../rules/transcript/intervals.ts';
import { EngineError, type Pcm, SAMPLE_RATE, type Transcript } from '../engine.ts';
import { mayBeSpoken, type SpeechEngine, transcribeSpeech } from '../evidence/transcribe-speech.ts';
import type { VoiceDetector } from '../vad/vad.ts';
import type {
  LiveDecoder,
  LiveDecoderOptions,
  LiveEngine,
  LiveFinal,
  LivePartial,
  LiveSegmentDecoder,
  OnPartial,
} from './live-engine.ts';
import { judgedFinal } from './live-final.ts';
import { findSegmentSpeech, SegmentAudio } from './segment-audio.ts';

type Detector = Pick<VoiceDetector, 'find'>;

// Of the halves that are decoded again; the engine's process has limits of its own.
const TIMEOUT_MS = 60_000;
/** Segments are decoded from frames of 10 ms. */
const FRAME = SAMPLE_RATE / 100;

/**
 * A streaming engine whose text is compared with the speech that was detected, as that of jobs is. Text of an open
 * segment is shown once speech was detected in it. A final text that lacks speech is decoded again in halves.
 */
export function judgedEngine(engine: LiveEngine, detector: Detector): LiveEngine {
  return { ...engine, open: (asked) => new JudgedDecoder(engine.open(asked), detector, asked) };
}

class JudgedDecoder implements LiveDecoder {
  readonly decoder: LiveDecoder;
  readonly detector: Detector;
  readonly asked: LiveDecoderOptions;
  readonly closed = new AbortController();

  constructor(decoder: LiveDecoder, detector: Detector, asked: LiveDecoderOptions) {
    this.decoder = decoder;
    this.detector = detector;
    this.asked = asked;
  }

  segment(onPartial: OnPartial | null): LiveSegmentDecoder {
    return new JudgedSegment(this, onPartial);
  }

  backlogSeconds(): number {
    return this.decoder.backlogSeconds();
  }

  close(): void {
    this.closed.abort(new EngineError('engine_error', 'The session has ended.'));
    this.decoder.close();
  }

  async findSpeech(piece: Pcm): Promise<Interval[] | null> {
    return await findSegmentSpeech(this.detector, piece, this.closed.signal);
  }

  /** The text of some audio, decoded by itself. */
  async decode(piece: Pcm): Promise<Transcript> {
    const segment = this.decoder.segment(null);
    for (let at = 0; at < piece.length; at += FRAME) segment.write(piece.subarray(at, at + FRAME));
    const seconds = piece.length / SAMPLE_RATE;
    return transcriptOf(await segment.end(seconds), seconds);
  }
}

class JudgedSegment implements LiveSegmentDecoder {
  readonly #session: JudgedDecoder;
  readonly #segment: LiveSegmentDecoder;
  readonly #onPartial: OnPartial | null;
  readonly #audio = new SegmentAudio();
  /** What the engine gave last, which is shown once there is speech. */
  #partial: LivePartial | null = null;
  #isSpoken = false;
  #isAsking = false;
  #hasEnded = false;

  constructor(session: JudgedDecoder, onPartial: OnPartial | null) {
    this.#session = session;
    this.#onPartial = onPartial;
    this.#segment = session.decoder.segment(onPartial && ((partial) => this.#take(partial)));
  }

  write(frame: Pcm): void {
    this.#audio.write(frame);
    this.#segment.write(frame);
  }

  async end(lengthSeconds: number): Promise<LiveFinal> {
    this.#hasEnded = true;
    const piece = this.#audio.first(lengthSeconds);
    const seconds = piece.length / SAMPLE_RATE;
    const [final, speech] = await Promise.all([this.#segment.end(lengthSeconds), this.#session.findSpeech(piece)]);
    const { language } = this.#session.asked;
    const options = { language, timeoutMs: TIMEOUT_MS, signal: this.#session.closed.signal };
    const heard = await transcribeSpeech(this.#engineWith(piece, final), piece, speech, options);
    return judgedFinal(heard, { stableText: this.#isSpoken ? stableTextOf(this.#partial) : '', seconds });
  }

  close(): void {
    this.#hasEnded = true;
    this.#segment.close();
  }

  /** An engine that has decoded all of the segment already. */
  #engineWith(piece: Pcm, final: LiveFinal): SpeechEngine {
    return {
      features: ['words'],
      transcribe: async (some) =>
        some.length === piece.length
          ? transcriptOf(final, piece.length / SAMPLE_RATE)
          : await this.#session.decode(some),
    };
  }

  #take(partial: LivePartial): void {
    this.#partial = partial;
    if (this.#hasEnded) return;
    if (this.#isSpoken) this.#onPartial?.(partial);
    else if (partial.words.length > 0 && !this.#isAsking) void this.#ask();
  }

  async #ask(): Promise<void> {
    this.#isAsking = true;
    const asked = this.#partial;
    const piece = this.#audio.first();
    // Rejects when the session is closed.
    const speech = await this.#session.findSpeech(piece).catch(() => []);
    this.#isAsking = false;
    if (this.#hasEnded) return;
    if (mayBeSpoken({}, piece, speech)) {
      this.#isSpoken = true;
      this.#onPartial?.(this.#partial!);
      // Text of more audio came meanwhile, and no more may come.
    } else if (this.#partial !== asked) await this.#ask();
  }
}

function stableTextOf(partial: LivePartial | null): string {
  return joinWords(partial?.words.slice(0, partial.stableWords) ?? []);
}

function transcriptOf({ text, words, confidence, language }: LiveFinal, seconds: number): Transcript {
  const [startSeconds, endSeconds] = [words[0]?.startSeconds ?? 0, words.at(-1)?.endSeconds ?? seconds];
  return { language, segments: text === '' ? [] : [{ text, startSeconds, endSeconds, confidence, words }] };
}
