import type { Clock } from '../../platform/clock.ts';
import { EngineError } from '../engine.ts';

const MISSING_STATUSES = [404, 405, 501];
/** Then it is asked again: the server may have been replaced. */
const KNOWN_MS = 3_600_000;

/**
 * Whether a server translates. One without that endpoint answers 404, as one that is away behind a proxy does: the
 * endpoint is missing where the server transcribes between two such answers.
 */
export class TranslationSupport {
  readonly #clock: Clock;
  #isRefused = false;
  #hasTranscribed = false;
  #missingUntilMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  isMissing(): boolean {
    return this.#clock.now() < this.#missingUntilMs;
  }

  transcribed(): void {
    this.#hasTranscribed = true;
  }

  /** The error of a translation that failed. */
  explain(error: EngineError): EngineError {
    const { failure } = error;
    if (failure.kind !== 'status' || !MISSING_STATUSES.includes(failure.status)) return error;
    if (!this.#isRefused || !this.#hasTranscribed) {
      this.#isRefused = true;
      this.#hasTranscribed = false;
      return error;
    }
    this.#isRefused = false;
    this.#missingUntilMs = this.#clock.now() + KNOWN_MS;
    const message = 'The speech server cannot translate. Send the audio without translate_to.';
    return new EngineError('engine_error', message, { cause: error, failure: { kind: 'request' } });
  }
}
