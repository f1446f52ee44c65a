import type sherpa from 'sherpa-onnx-node';
import { type Pcm, SAMPLE_RATE } from '../engine.ts';
import type { SegmentStream } from '../live/child-serve-live.ts';
import type { LiveFinal, LivePartial } from '../live/live-engine.ts';
import { finalOf } from '../live/live-final.ts';
import { asFloats } from './samples.ts';
import { readSherpaResult, type SherpaResult } from './sherpa-words.ts';

// A chunk has to be full to be decoded, also the last one.
const TAIL = new Float32Array(0.8 * SAMPLE_RATE);

type Recognizer = InstanceType<typeof sherpa.OnlineRecognizer>;

/** A segment that sherpa-onnx decodes while it comes. */
export class OnlineSegment implements SegmentStream {
  readonly #recognizer: Recognizer;
  readonly #onClosed: () => void;
  readonly #stream: ReturnType<Recognizer['createStream']>;
  #samples = 0;
  #shown = '';

  constructor(recognizer: Recognizer, onClosed: () => void) {
    this.#recognizer = recognizer;
    this.#onClosed = onClosed;
    this.#stream = recognizer.createStream();
  }

  decode(samples: Pcm): LivePartial | null {
    this.#samples += samples.length;
    this.#accept(asFloats(samples));
    const result = this.#result();
    if (result.text === this.#shown) return null;
    this.#shown = result.text;
    const words = readSherpaResult(result, this.#samples / SAMPLE_RATE).segments.flatMap((segment) => segment.words);
    // Greedy search only adds to the text, but the last word may become longer.
    return words.length === 0 ? null : { words, stableWords: words.length - 1 };
  }

  end(lengthSeconds: number): LiveFinal {
    this.#accept(TAIL);
    this.#stream.inputFinished();
    this.#decodeAll();
    return finalOf(readSherpaResult(tokensBefore(this.#result(), lengthSeconds), lengthSeconds));
  }

  close(): void {
    this.#onClosed();
  }

  #accept(samples: Float32Array): void {
    this.#stream.acceptWaveform({ samples, sampleRate: SAMPLE_RATE });
    this.#decodeAll();
  }

  #decodeAll(): void {
    while (this.#recognizer.isReady(this.#stream)) this.#recognizer.decode(this.#stream);
  }

  #result(): SherpaResult {
    return this.#recognizer.getResult(this.#stream) as SherpaResult;
  }
}

/** The tokens of a result that begin before a time. Its `ys_probs` are logarithms, which other results name so. */
function tokensBefore(result: SherpaResult, seconds: number): SherpaResult {
  const { tokens = [], timestamps = [], ys_probs = [] } = result as SherpaResult & { ys_probs?: number[] };
  const count = timestamps.filter((start) => start < seconds).length;
  return {
    text: tokens.slice(0, count).join('').replaceAll('▁', ' ').trim(),
    tokens: tokens.slice(0, count),
    timestamps: timestamps.slice(0, count),
    ys_log_probs: ys_probs.slice(0, count),
  };
}
