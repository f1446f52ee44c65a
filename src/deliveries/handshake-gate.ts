import type { DeadlineWheel } from './deadlines.ts';

export type HandshakeGate = {
  /**
   * Waits for a place to connect. Resolves to the way to leave, or to null when none came free in time.
   * @param isSuspect  the receiver has been failing: it waits behind those that have not
   */
  enter(isSuspect: boolean): Promise<(() => void) | null>;
  /** Sends away everyone who waits. */
  close(): void;
};

type Visitor = { admit(leave: (() => void) | null): void };

// A receiver that keeps silent costs no processor time; it must not keep the place of one that answers.
const MAX_STAY_MS = 100;

/**
 * At most `places` TLS handshakes at once: a burst of thousands would stall the event loop for seconds, and time out
 * receivers that answered.
 */
export function openHandshakeGate(options: { places: number; maxWaitMs: number; wheel: DeadlineWheel }): HandshakeGate {
  const { places, maxWaitMs, wheel } = options;
  const queues = { healthy: new Set<Visitor>(), suspect: new Set<Visitor>() };
  let inside = 0;

  function enter(isSuspect: boolean): Promise<(() => void) | null> {
    if (inside < places) return Promise.resolve(stay());
    const queue = isSuspect ? queues.suspect : queues.healthy;
    return new Promise((resolve) => {
      const patience = wheel.start(maxWaitMs);
      const visitor: Visitor = {
        admit(leave) {
          queue.delete(visitor);
          patience.cancel();
          resolve(leave);
        },
      };
      patience.onOver = () => visitor.admit(null);
      queue.add(visitor);
    });
  }

  function stay(): () => void {
    inside += 1;
    let left = false;
    const longest = wheel.start(MAX_STAY_MS);
    function leave(): void {
      if (left) return;
      left = true;
      longest.cancel();
      inside -= 1;
      const [next] = queues.healthy.size > 0 ? queues.healthy : queues.suspect;
      next?.admit(stay());
    }
    longest.onOver = leave;
    return leave;
  }

  function close(): void {
    for (const visitor of [...queues.healthy, ...queues.suspect]) visitor.admit(null);
  }

  return { enter, close };
}
