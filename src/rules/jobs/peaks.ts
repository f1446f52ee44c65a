// A frame is 10 ms. The number of intervals of a long audio is between MAX_INTERVALS / 2 and MAX_INTERVALS.
const FRAME_SAMPLES = 160;
const MAX_INTERVALS = 2_000;

/** The lowest and the highest sample of each interval of the audio, as bytes: -128 to 127. */
export type Peaks = { min: number[]; max: number[] };

/**
 * Collects the peaks of audio whose length is not known: whenever there are MAX_INTERVALS, two become one. Uses 4 KB,
 * however long the audio is.
 */
export class PeakCollector {
  readonly #bytes = new Int8Array(2 * MAX_INTERVALS);
  #intervals = 0;
  #samplesPerInterval = FRAME_SAMPLES;
  #min = 0;
  #max = 0;
  #samples = 0;

  /** @param samples  16-bit samples that follow those before */
  add(samples: Int16Array): void {
    for (let at = 0; at < samples.length; ) {
      const end = Math.min(samples.length, at + this.#samplesPerInterval - this.#samples);
      this.#samples += end - at;
      let min = this.#min;
      let max = this.#max;
      for (; at < end; at++) {
        const sample = samples[at]!;
        if (sample < min) min = sample;
        else if (sample > max) max = sample;
      }
      this.#min = min;
      this.#max = max;
      if (this.#samples === this.#samplesPerInterval) this.#endInterval();
    }
  }

  /** @param samples  number of silent samples that follow those before */
  skip(samples: number): void {
    for (let left = samples; left > 0; ) {
      const step = Math.min(left, this.#samplesPerInterval - this.#samples);
      this.#samples += step;
      left -= step;
      if (this.#samples === this.#samplesPerInterval) this.#endInterval();
    }
  }

  /** Pairs of bytes, min and max, for `readPeaks`. Empty without samples. */
  bytes(): Buffer {
    const rest = this.#samples > 0 ? [this.#min >> 8, this.#max >> 8] : [];
    return Buffer.from(Int8Array.from([...this.#bytes.subarray(0, 2 * this.#intervals), ...rest]).buffer);
  }

  #endInterval(): void {
    this.#bytes[2 * this.#intervals] = this.#min >> 8;
    this.#bytes[2 * this.#intervals + 1] = this.#max >> 8;
    this.#intervals += 1;
    this.#min = 0;
    this.#max = 0;
    this.#samples = 0;
    if (this.#intervals === MAX_INTERVALS) this.#halve();
  }

  #halve(): void {
    const bytes = this.#bytes;
    for (let i = 0; i < MAX_INTERVALS / 2; i++) {
      bytes[2 * i] = Math.min(bytes[4 * i]!, bytes[4 * i + 2]!);
      bytes[2 * i + 1] = Math.max(bytes[4 * i + 1]!, bytes[4 * i + 3]!);
    }
    this.#intervals = MAX_INTERVALS / 2;
    this.#samplesPerInterval *= 2;
  }
}

/** The peaks in at most `points` intervals of about the same length. @param stored  from `PeakCollector.bytes` */
export function readPeaks(stored: Buffer, points: number): Peaks {
  const bytes = new Int8Array(stored.buffer, stored.byteOffset, stored.length);
  const intervals = bytes.length / 2;
  const count = Math.min(points, intervals);
  const peaks: Peaks = { min: [], max: [] };
  for (let point = 0; point < count; point++) {
    const from = Math.floor((point * intervals) / count);
    const to = Math.floor(((point + 1) * intervals) / count);
    const part = bytes.subarray(2 * from, 2 * to);
    peaks.min.push(Math.min(...part.filter((_, i) => i % 2 === 0)));
    peaks.max.push(Math.max(...part.filter((_, i) => i % 2 === 1)));
  }
  return peaks;
}
