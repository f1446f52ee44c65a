import { billedMs } from '../jobs/price.ts';

/** How far several channels of the same audio have come, in samples from its start. */
export class Extent {
  readonly #ends: number[];
  readonly #sampleRate: number;

  constructor(channels: number, sampleRate: number) {
    this.#ends = new Array(channels).fill(0);
    this.#sampleRate = sampleRate;
  }

  /** @param position  the channel's position among the channels */
  reach(position: number, endSample: number): void {
    this.#ends[position] = endSample;
  }

  /** The audio of all channels together: what is charged for. */
  chargedMs(): number {
    return this.#ends.reduce((sum, end) => sum + billedMs(end, this.#sampleRate), 0);
  }

  /** The audio up to the channel that has come furthest. */
  furthestMs(): number {
    return billedMs(Math.max(...this.#ends), this.#sampleRate);
  }

  /** The mean of the channels. */
  meanSeconds(): number {
    return this.#ends.reduce((sum, end) => sum + end, 0) / this.#ends.length / this.#sampleRate;
  }
}
