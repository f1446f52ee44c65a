import type { DeadlineWheel } from './deadlines.ts';

export type HandshakeGate = {
  /**
   * Waits for a place to connect. Resolves to the way to leave, or to null when none came free in time.
   * @param isDegraded  nothing good is known of the receiver: it waits behind those that work, for a share of the places
   */
  enter(isDegraded: boolean): Promise<(() => void) | null>;
  /** Sends away everyone who waits. */
  close(): void;
};

type Visitor = { admit(leave: (() => void) | null): void };

// What hangs is mostly among these; five sixths of the places are never theirs.
const SUSPECTS_SHARE = 1 / 6;
// A receiver that keeps silent costs no processor time; it must not keep the place of one that answers.
const MAX_STAY_MS = 100;

/**
 * At most `places` TLS handshakes at once: a burst of thousands would stall the event loop for seconds, and time out
 * receivers that answered.
 */
export function openHandshakeGate(options: { places: number; maxWaitMs: number; wheel: DeadlineWheel }): HandshakeGate {
  const { places, maxWaitMs, wheel } = options;
  const queues = { healthy: new Set<Visitor>(), suspect: new Set<Visitor>() };
  const suspectPlaces = Math.max(1, Math.floor(places * SUSPECTS_SHARE));
  let inside = 0;
  let suspectsInside = 0;

  function enter(isDegraded: boolean): Promise<(() => void) | null> {
    if (hasPlace(isDegraded)) return Promise.resolve(stay(isDegraded));
    const queue = isDegraded ? queues.suspect : queues.healthy;
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

  function hasPlace(isDegraded: boolean): boolean {
    return inside < places && (!isDegraded || suspectsInside < suspectPlaces);
  }

  function stay(isDegraded: boolean): () => void {
    inside += 1;
    if (isDegraded) suspectsInside += 1;
    let left = false;
    const longest = wheel.start(MAX_STAY_MS);
    function leave(): void {
      if (left) return;
      left = true;
      longest.cancel();
      inside -= 1;
      if (isDegraded) suspectsInside -= 1;
      admitNext();
    }
    longest.onOver = leave;
    return leave;
  }

  function admitNext(): void {
    const [healthy] = queues.healthy;
    const [suspect] = queues.suspect;
    if (healthy) healthy.admit(stay(false));
    else if (suspect && hasPlace(true)) suspect.admit(stay(true));
  }

  function close(): void {
    for (const visitor of [...queues.healthy, ...queues.suspect]) visitor.admit(null);
  }

  return { enter, close };
}
