import type { TLSSocket } from 'node:tls';
import { Client } from 'undici';
import type { DeadlineWheel } from './deadlines.ts';

/** One kept-alive connection to one judged address. */
export type Connection = {
  client: Client;
  address: string;
  /** False once the socket is gone; the next request needs another connection. */
  isOpen(): boolean;
};

export type Turn = {
  /** Null: make one, and say so when it is made. */
  kept: Connection | null;
  connected(): void;
  /** The attempt is over. */
  leave(): void;
};

export type ConnectionPool = {
  /**
   * An attempt at the origin asks for its turn: the first few go on at once, the others with a connection that another
   * gives back, or after a quarter of a second without. Null when their time is over.
   */
  enter(origin: string): Promise<Turn | null>;
  /** The idle connection that was used last; null when there is none. It belongs to the caller until `giveBack`. */
  take(origin: string): Connection | null;
  /** Wraps a fresh socket; it belongs to the caller until `giveBack`. */
  adopt(origin: string, address: string, socket: TLSSocket): Connection;
  giveBack(origin: string, connection: Connection): void;
  discard(connection: Connection): void;
  close(): void;
};

const KEEP_ALIVE_MS = 10_000;
const MAX_KEEP_ALIVE_MS = 60_000;
const MAX_IDLE = 2_048;
const MAX_HEADER_BYTES = 16 * 1024;
// Enough to keep a processor busy, and four times what one webhook has in flight: few ever wait.
const MOST_AT_ONCE = 64;
const SHARE_WAIT_MS = 250;

type Waiting = { sinceMs: number; admit(turn: Turn): void };
/** Attempts under way at one host, how many of them are connecting, and those that wait, the longest first. */
type Origin = { underWay: number; connecting: number; waiting: Set<Waiting>; isWatched: boolean };

/** Idle connections by origin, each pinned to the address it was opened to. A fresh one costs thirty times a reused one. */
export function openConnectionPool({ wheel, maxWaitMs }: { wheel: DeadlineWheel; maxWaitMs: number }): ConnectionPool {
  const origins = new Map<string, Origin>();
  const idle = new Map<string, Connection[]>();
  const all = new Set<Connection>();
  let idleCount = 0;

  function enter(name: string): Promise<Turn | null> {
    let origin = origins.get(name);
    if (!origin) {
      origin = { underWay: 0, connecting: 0, waiting: new Set(), isWatched: false };
      origins.set(name, origin);
    }
    const kept = take(name);
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

  function take(origin: string): Connection | null {
    for (;;) {
      const connection = idle.get(origin)?.at(-1);
      if (!connection) return null;
      removeIdle(origin, connection);
      if (connection.isOpen()) return connection;
      discard(connection);
    }
  }

  function adopt(origin: string, address: string, socket: TLSSocket): Connection {
    let unused: TLSSocket | null = socket;
    const client = new Client(origin, {
      connect: (_options, callback) => {
        const given = unused;
        unused = null;
        // A client that lost its socket must not open another: that one's address would be unjudged.
        // Answered later, as undici expects; at once, the request would never be written.
        queueMicrotask(() => (given ? callback(null, given) : callback(new Error('this connection is used up'), null)));
      },
      pipelining: 1,
      maxHeaderSize: MAX_HEADER_BYTES,
      // The attempt's own deadline bounds both.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: MAX_KEEP_ALIVE_MS,
    });
    const connection: Connection = { client, address, isOpen: () => !socket.destroyed && socket.writable };
    client.on('disconnect', () => {
      removeIdle(origin, connection);
      discard(connection);
    });
    all.add(connection);
    return connection;
  }

  function giveBack(origin: string, connection: Connection): void {
    if (!connection.isOpen() || idleCount >= MAX_IDLE) {
      discard(connection);
      return;
    }
    const used = origins.get(origin);
    const [next] = used?.waiting ?? [];
    if (used && next) {
      next.admit(beginTurn(origin, used, connection));
      return;
    }
    const stack = idle.get(origin);
    if (stack) stack.push(connection);
    else idle.set(origin, [connection]);
    idleCount += 1;
  }

  function removeIdle(origin: string, connection: Connection): void {
    const stack = idle.get(origin);
    const index = stack?.lastIndexOf(connection) ?? -1;
    if (!stack || index < 0) return;
    stack.splice(index, 1);
    idleCount -= 1;
    if (stack.length === 0) idle.delete(origin);
  }

  function discard(connection: Connection): void {
    if (all.delete(connection)) connection.client.destroy().catch(() => undefined);
  }

  return {
    enter,
    take,
    adopt,
    giveBack,
    discard,
    close() {
      all.forEach(discard);
    },
  };
}
