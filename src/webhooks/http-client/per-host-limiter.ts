import type { Connection, ConnectionPool } from './connections.ts';
import type { DeadlineWheel } from './deadlines.ts';

export type Turn = {
  /** Null: make one, and say so when it is made. */
  kept: Connection | null;
  connected(): void;
  /** The attempt is over. */
  leave(): void;
};

export type OriginTurns = {
  /**
   * An attempt at the origin asks for its turn: the first few go on at once, the others with a connection that another
   * gives back, or after a quarter of a second without. Null when their time is over.
   */
  enter(origin: string): Promise<Turn | null>;
  /** To whoever has waited for longest at the origin, else to the pool. */
  giveBack(origin: string, connection: Connection): void;
};

// Enough to keep a processor busy, and four times what one webhook has in flight: few ever wait.
const MOST_AT_ONCE = 64;
const SHARE_WAIT_MS = 250;

type Waiting = { sinceMs: number; admit(turn: Turn): void };
/** Attempts under way at one host, how many of them are connecting, and those that wait, the longest first. */
type Origin = { underWay: number; connecting: number; waiting: Set<Waiting>; isWatched: boolean };

export type TurnOptions = { pool: ConnectionPool; wheel: DeadlineWheel; maxWaitMs: number };

/** Attempts at one host share its connections: in a burst, opening one for each would cost thirty times as much. */
export function openOriginTurns({ pool, wheel, maxWaitMs }: TurnOptions): OriginTurns {
  const origins = new Map<string, Origin>();

  function enter(name: string): Promise<Turn | null> {
    let origin = origins.get(name);
    if (!origin) {
      origin = { underWay: 0, connecting: 0, waiting: new Set(), isWatched: false };
      origins.set(name, origin);
    }
    const kept = pool.take(name);
    if (kept === null && origin.underWay >= MOST_AT_ONCE) return waitForTurn(name, origin);
    return Promise.resolve(beginTurn(name, origin, kept));
  }

  function waitForTurn(name: string, origin: Origin): Promise<Turn | null> {
    return new Promise((resolve) => {
      const patience = wheel.start(maxWaitMs);
      const one: Waiting = {
        sinceMs: performance.now(),
        admit(turn) {
          origin.waiting.delete(one);
          patience.cancel();
          resolve(turn);
        },
      };
      patience.onOver = () => {
        origin.waiting.delete(one);
        resolve(null);
      };
      origin.waiting.add(one);
      if (!origin.isWatched) watch(name, origin);
    });
  }

  /** Whoever has waited for long makes a connection after all: the others may belong to webhooks that are slow. */
  function watch(name: string, origin: Origin): void {
    origin.isWatched = true;
    wheel.start(SHARE_WAIT_MS / 5).onOver = () => {
      origin.isWatched = false;
      if (origin.waiting.size === 0) return;
      const sinceMs = performance.now() - SHARE_WAIT_MS;
      admitWaiting(name, origin, (one) => one.sinceMs <= sinceMs && origin.connecting < MOST_AT_ONCE);
      watch(name, origin);
    };
  }

  function admitWaiting(name: string, origin: Origin, mayGo: (one: Waiting) => boolean): void {
    for (const one of origin.waiting) {
      if (!mayGo(one)) return;
      one.admit(beginTurn(name, origin, null));
    }
  }

  function beginTurn(name: string, origin: Origin, kept: Connection | null): Turn {
    let isConnecting = kept === null;
    origin.underWay += 1;
    if (isConnecting) origin.connecting += 1;
    function connected(): void {
      if (!isConnecting) return;
      isConnecting = false;
      origin.connecting -= 1;
    }
    return {
      kept,
      connected,
      leave() {
        connected();
        origin.underWay -= 1;
        admitWaiting(name, origin, () => origin.underWay < MOST_AT_ONCE);
        if (origin.underWay === 0) origins.delete(name);
      },
    };
  }

  function giveBack(name: string, connection: Connection): void {
    const origin = origins.get(name);
    const [next] = origin?.waiting ?? [];
    if (origin && next && connection.isOpen()) next.admit(beginTurn(name, origin, connection));
    else pool.giveBack(name, connection);
  }

  return { enter, giveBack };
}
