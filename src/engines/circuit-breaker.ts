import { EngineError } from './engine.ts';

/** Permission for one call. Disposed without an outcome, the call counts neither for nor against the server. */
export type Permit = Disposable & {
  /** The server sent a response, with any status. */
  responded(): void;
  /**
   * The server sent no response: it refused or broke the connection, or the call timed out. Ignored after `responded`.
   */
  failed(): void;
};

export type CircuitBreaker = {
  /** @throws EngineError  at once while the circuit is open, except for the trial call */
  acquire(): Permit;
  /** True from the `failuresMax`th failure in a row until a call gets a response. */
  isOpen(): boolean;
};

/**
 * @param failuresMax  failed calls in a row that open the circuit; a trial call is allowed every `restMs` from then on
 */
export type CircuitSettings = { failuresMax: number; restMs: number; nowMs: () => number };

/**
 * Rejects calls to a server that does not respond, instead of letting them queue. After a rest one trial call is
 * allowed; the others fail until the trial gets a response. Responses with an error status do not open the circuit.
 */
export function openCircuitBreaker({ failuresMax, restMs, nowMs }: CircuitSettings): CircuitBreaker {
  let failures = 0;
  let restUntilMs = 0;
  let trial: Permit | null = null;
  const isOpen = () => failures >= failuresMax;

  function openPermit(): Permit {
    let hasResponded = false;
    const permit: Permit = {
      responded() {
        hasResponded = true;
        failures = 0;
      },
      failed() {
        if (hasResponded) return;
        failures += 1;
        restUntilMs = nowMs() + restMs;
      },
      [Symbol.dispose]() {
        if (trial === permit) trial = null;
      },
    };
    return permit;
  }

  return {
    isOpen,
    acquire() {
      if (!isOpen()) return openPermit();
      if (trial !== null || nowMs() < restUntilMs) {
        throw new EngineError('engine_error', 'The speech server does not answer. Send the audio again later.');
      }
      trial = openPermit();
      return trial;
    },
  };
}
