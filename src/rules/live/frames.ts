import { bytesPerFrame, decodeSamples, type LiveFormat } from './encoding.ts';
import { Resampler } from './resampler.ts';

/** Whole frames that the client has lost. */
export type Gap = { gapFrames: number };

/** Zero as a byte of each encoding. */
const SILENCE = { pcm_s16le: 0, mulaw: 0xff, alaw: 0xd5 } as const;

/** Frames of 10 ms at 16,000 samples per second from the bytes of a session, however they are divided. */
export class FrameReader {
  readonly #format: LiveFormat;
  readonly #frameBytes: number;
  #resampler: Resampler;
  #rest: Uint8Array = new Uint8Array(0);

  constructor(format: LiveFormat) {
    this.#format = format;
    this.#frameBytes = bytesPerFrame(format);
    this.#resampler = new Resampler(format.sampleRate);
  }

  /** The frames that are complete with these bytes. */
  *push(bytes: Uint8Array): Generator<Int16Array> {
    const all = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const complete = all.length - (all.length % this.#frameBytes);
    // At once: a buffer for each frame would cost more than its samples.
    const samples = decodeSamples(this.#format.encoding, all.subarray(0, complete));
    const frameSamples = this.#format.sampleRate / 100;
    for (let at = 0; at < samples.length; at += frameSamples) {
      yield this.#resampler.push(samples.subarray(at, at + frameSamples));
    }
    // A copy: the bytes may be part of a larger buffer.
    this.#rest = Uint8Array.from(all.subarray(complete));
  }

  /**
   * Passes over bytes that the client has lost: they are silence in the frames that they share with other bytes. The
   * work is the same for any number of bytes.
   */
  *skip(bytes: number): Generator<Int16Array | Gap> {
    const first = this.#rest.length === 0 ? 0 : Math.min(bytes, this.#frameBytes - this.#rest.length);
    yield* this.push(this.#silence(first));
    const gapFrames = Math.floor((bytes - first) / this.#frameBytes);
    if (gapFrames > 0) {
      this.#resampler = new Resampler(this.#format.sampleRate);
      yield { gapFrames };
    }
    yield* this.push(this.#silence(bytes - first - gapFrames * this.#frameBytes));
  }

  /** The last frame, filled with silence; none where the bytes ended with a frame. Half a sample is dropped. */
  *end(): Generator<Int16Array> {
    if (this.#rest.length === 0) return;
    if (this.#format.encoding === 'pcm_s16le') this.#rest = this.#rest.subarray(0, this.#rest.length & ~1);
    yield* this.push(this.#silence(this.#frameBytes - this.#rest.length));
  }

  /** @param bytes  at most a frame */
  #silence(bytes: number): Uint8Array {
    return new Uint8Array(bytes).fill(SILENCE[this.#format.encoding]);
  }
}
