import { readFileSync } from 'node:fs';
import path from 'node:path';
import koffi from 'koffi';
import { Agreement } from '../../rules/live/agreement.ts';
import { type Pcm, SAMPLE_RATE, type Word } from '../engine.ts';
import type { OpenStream, SegmentStream } from '../live/child-serve-live.ts';
import type { LiveFinal, LivePartial } from '../live/live-engine.ts';
import { meanConfidence } from '../segments.ts';
import { CepstralMean } from './cepstral-mean.ts';
import { decoderArguments, type PocketsphinxFiles } from './pocketsphinx-files.ts';
import { wordsOfPath } from './pocketsphinx-words.ts';
import { declareFunctions, openDecoder, readBestPath, type Sphinx } from './sphinx-functions.ts';

const NO = 0;
const FLOAT_BYTES = 4;
// The library loses frames when it is given more than its look-ahead of 5 at once.
const FRAMES_PER_CALL = 5;
// A turn has at most 0.1 s.
const SAMPLES_MAX = 1_600;
// The library may hold the first frames back until it is sure that they are speech, and give them with later ones.
const CEPSTRA_MAX = 64;
// The best path changes often: words are stable when two of them, so far apart, agree.
const PARTIAL_EVERY_SAMPLES = 0.3 * SAMPLE_RATE;

/**
 * Decodes segments while they come, each with a decoder of its own, which a later segment uses again. A decoder takes
 * 90 MB; the first is loaded at once.
 * @throws Error  when the library or the model cannot be loaded
 */
export function openLiveDecoders(files: PocketsphinxFiles): OpenStream {
  const sphinx = declareFunctions(files.library);
  const free = [new LiveDecoder(sphinx, files)];
  return () => {
    const decoder = free.pop() ?? new LiveDecoder(sphinx, files);
    return new SphinxStream(decoder, () => free.push(decoder));
  };
}

/** A decoder whose cepstral mean is subtracted here. */
class LiveDecoder {
  readonly #sphinx: Sphinx;
  readonly #decoder: unknown;
  readonly #frontEnd: unknown;
  readonly #size: number;
  readonly #samples: NativeBuffer<Int16Array>;
  readonly #cepstra: NativeBuffer<Float32Array>;
  /** Addresses of the cepstra, as the library wants them. */
  readonly #pointers: NativeBuffer<BigUint64Array>;

  constructor(sphinx: Sphinx, files: PocketsphinxFiles) {
    this.#sphinx = sphinx;
    this.#decoder = openDecoder(sphinx, [...decoderArguments(files), ...liveArguments(files)]);
    this.#frontEnd = sphinx.frontEnd(this.#decoder);
    this.#size = sphinx.cepstrumSize(this.#frontEnd);
    this.#samples = nativeBuffer(Int16Array, SAMPLES_MAX);
    this.#cepstra = nativeBuffer(Float32Array, CEPSTRA_MAX * this.#size);
    this.#pointers = nativeBuffer(BigUint64Array, CEPSTRA_MAX);
    for (let at = 0; at < CEPSTRA_MAX; at++) {
      this.#pointers.values[at] = this.#cepstra.address + BigInt(at * this.#size * FLOAT_BYTES);
    }
  }

  get cepstrumSize(): number {
    return this.#size;
  }

  start(): void {
    this.#sphinx.startStream(this.#decoder);
    this.#sphinx.startUtterance(this.#decoder);
  }

  /** The cepstra of the next samples: one for each 10 ms, some of them later. */
  cepstraOf(samples: Pcm): Float32Array[] {
    this.#samples.values.set(samples);
    const [input, left] = [[this.#samples.address], [samples.length]];
    const cepstra: Float32Array[] = [];
    do {
      const frames = [CEPSTRA_MAX];
      this.#sphinx.makeCepstra(this.#frontEnd, input, left, this.#pointers.address, frames, [0]);
      cepstra.push(...this.#copyCepstra(frames[0]!));
    } while (left[0]! > 0);
    return cepstra;
  }

  /** The last cepstrum, of samples that do not fill a frame. */
  lastCepstrum(): Float32Array[] {
    const frames = [0];
    this.#sphinx.endCepstra(this.#frontEnd, this.#cepstra.address, frames);
    return this.#copyCepstra(frames[0]!);
  }

  decode(frames: Float32Array[]): void {
    for (let at = 0; at < frames.length; at += FRAMES_PER_CALL) {
      const some = frames.slice(at, at + FRAMES_PER_CALL);
      for (const [index, frame] of some.entries()) this.#cepstra.values.set(frame, index * this.#size);
      const decoded = this.#sphinx.processCepstra(this.#decoder, this.#pointers.address, some.length, NO, NO);
      if (decoded < 0) throw new Error('ps_process_cep failed');
    }
  }

  end(): void {
    this.#sphinx.endUtterance(this.#decoder);
  }

  words(): Word[] {
    return wordsOfPath(readBestPath(this.#sphinx, this.#decoder));
  }

  #copyCepstra(count: number): Float32Array[] {
    return Array.from({ length: count }, (_, at) => this.#cepstra.values.slice(at * this.#size, (at + 1) * this.#size));
  }
}

class SphinxStream implements SegmentStream {
  readonly #decoder: LiveDecoder;
  readonly #onClosed: () => void;
  readonly #mean: CepstralMean;
  readonly #agreement = new Agreement<Word>();
  #samplesSincePartial = 0;
  #isOpen = true;

  constructor(decoder: LiveDecoder, onClosed: () => void) {
    this.#decoder = decoder;
    this.#onClosed = onClosed;
    this.#mean = new CepstralMean(decoder.cepstrumSize);
    decoder.start();
  }

  decode(samples: Pcm): LivePartial | null {
    for (const cepstrum of this.#decoder.cepstraOf(samples)) this.#decoder.decode(this.#mean.push(cepstrum));
    this.#samplesSincePartial += samples.length;
    if (this.#samplesSincePartial < PARTIAL_EVERY_SAMPLES) return null;
    this.#samplesSincePartial = 0;
    const { stable, open } = this.#agreement.push(this.#decoder.words());
    const words = [...stable, ...open];
    return words.length === 0 ? null : { words, stableWords: stable.length };
  }

  end(lengthSeconds: number): LiveFinal {
    for (const cepstrum of this.#decoder.lastCepstrum()) this.#decoder.decode(this.#mean.push(cepstrum));
    this.#decoder.decode(this.#mean.end());
    this.#finish();
    const words = this.#decoder.words().filter(({ startSeconds }) => startSeconds < lengthSeconds);
    return {
      text: words.map(({ text }) => text).join(' '),
      words: words.map((word) => ({ ...word, endSeconds: Math.min(word.endSeconds, lengthSeconds) })),
      confidence: meanConfidence(words.map(({ confidence }) => confidence)),
      language: 'en',
    };
  }

  close(): void {
    if (this.#isOpen) this.#finish();
    this.#onClosed();
  }

  #finish(): void {
    this.#isOpen = false;
    this.#decoder.end();
  }
}

/** One pass: the second takes as long as the first again, when the text is waited for, and made no fewer errors. */
function liveArguments({ acoustics }: PocketsphinxFiles): string[] {
  // The model's own file would set the library's mean again.
  const ofModel = readFileSync(path.join(acoustics, 'feat.params'), 'utf8').trim().split(/\s+/);
  return [...ofModel, '-cmn', 'none', '-featparams', '/dev/null', '-fwdflat', 'no'];
}

type NativeBuffer<Values> = { address: bigint; values: Values };

/** Memory of the process that stays where it is. It is freed with the process. */
function nativeBuffer<Values>(
  type: { new (buffer: ArrayBuffer): Values; BYTES_PER_ELEMENT: number },
  length: number,
): NativeBuffer<Values> {
  const bytes = length * type.BYTES_PER_ELEMENT;
  const memory: unknown = koffi.alloc('uint8_t', bytes);
  return { address: koffi.address(memory), values: new type(koffi.view(memory, bytes)) };
}
