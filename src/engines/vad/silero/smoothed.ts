/** So much less than the threshold is speech still where speech was: the authors' smoothing. */
const HYSTERESIS = 0.15;

/**
 * Makes decisions of probabilities, one after the other: speech begins at the second in a row above the threshold, and
 * ends at the second that is clearly below it.
 */
export class Smoothed {
  readonly #threshold: number;
  #wasAbove = false;
  #isSpeech = false;
  #isEnding = false;

  constructor(threshold: number) {
    this.#threshold = threshold;
  }

  reset(): void {
    this.#wasAbove = false;
    this.#isSpeech = false;
    this.#isEnding = false;
  }

  /** Whether there is speech, after one more window. */
  next(probability: number): boolean {
    if (probability > this.#threshold) {
      this.#isSpeech = this.#wasAbove;
      this.#wasAbove = true;
      this.#isEnding = false;
    } else if (!this.#isSpeech || (this.#isEnding && probability <= this.#threshold - HYSTERESIS)) this.reset();
    else if (probability <= this.#threshold - HYSTERESIS) this.#isEnding = true;
    return this.#isSpeech;
  }
}
