import { EngineError } from './engine.ts';

/** One call's stay with the server. Disposed without either word, it says nothing about the server. */
export type Visit = Disposable & {
  /** The server said something, whatever it was. */
  answered(): void;
  /** It gave no answer: it cannot be reached, breaks off, or stays silent for as long as the call may take. */
  unanswered(): void;
};

export type Circuit = {
  /** @throws EngineError  at once, while the server is left alone */
  enter(): Visit;
  /** Whether the server counts as dead: from the last failure too many until a call is answered. */
  isOpen(): boolean;
};

/** @param failuresMax  calls in a row without an answer after which the server is left alone for `restMs` */
export type CircuitSettings = { failuresMax: number; restMs: number; nowMs: () => number };

/**
 * Keeps calls from queueing for a server that is dead. After its rest one call tries; the others go on failing at once until
 * that one is answered. A server that answers errors is not dead.
 */
export function openCircuit({ failuresMax, restMs, nowMs }: CircuitSettings): Circuit {
  let failures = 0;
  let restUntilMs = 0;
  let probe: Visit | null = null;
  const isOpen = () => failures >= failuresMax;
  const isResting = () => isOpen() && nowMs() < restUntilMs;

  function openVisit(): Visit {
    let isAnswered = false;
    const visit: Visit = {
      answered() {
        isAnswered = true;
        failures = 0;
      },
      unanswered() {
        if (isAnswered) return;
        failures += 1;
        restUntilMs = nowMs() + restMs;
      },
      [Symbol.dispose]() {
        if (probe === visit) probe = null;
      },
    };
    return visit;
  }

  return {
    isOpen,
    enter() {
      if (!isOpen()) return openVisit();
      if (probe !== null || isResting()) {
        throw new EngineError('engine_error', 'The speech server does not answer. Send the audio again later.');
      }
      probe = openVisit();
      return probe;
    },
  };
}
