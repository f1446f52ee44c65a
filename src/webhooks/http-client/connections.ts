import type { TLSSocket } from 'node:tls';
import Client from 'undici/lib/dispatcher/client.js';
import { readOverContinue } from './interim-answers.ts';

/** One persistent connection to one checked address. */
export type Connection = {
  client: Client;
  origin: string;
  address: string;
  /** When the attempt that uses it got it, or the last one that did. */
  usedSinceMs: number;
  /** When it became idle last. */
  usedUntilMs: number;
  /** How long it was idle before; 0 for a new one. */
  idleMs: number;
  /** False when the socket is closed; the next request needs another connection. */
  isOpen(): boolean;
};

/** What an attempt may use: a connection of its own until `giveBack` or `discard`, or a new one. */
export type Turn = {
  /** Null when the attempt opens one. */
  connection: Connection | null;
  /** The new connection is open, or will not be opened. Further calls have no effect. */
  opened(): void;
};

type Waiter = { sinceMs: number; admit(turn: Turn | null): void };
/** `waiters` in the order in which they came. An array and not a Set: see deadlines.ts. */
type Host = {
  connections: Set<Connection>;
  idle: Connection[];
  opening: number;
  waiters: Waiter[];
  isWatched: boolean;
};

const KEEP_ALIVE_MS = 10_000;
const MAX_KEEP_ALIVE_MS = 60_000;
const MAX_IDLE = 2_048;
const MAX_HEADER_BYTES = 16 * 1024;
// Enough to keep a processor busy, and four times what one webhook has in flight: attempts rarely wait.
const SHARED_CONNECTIONS = 64;
// After this wait an attempt may open one more for each connection that waits for a slow receiver. Not otherwise:
// attempts also wait while this process is short of processor time, and hundreds of connections double what an attempt
// costs.
const MAX_SHARE_WAIT_MS = 250;
const WATCH_MS = 50;
const SLOW_MS = 50;

/**
 * Idle connections by origin, each bound to one address. Attempts at one origin share them: a new connection costs
 * thirty times a reused one, and in a burst each attempt would open one.
 */
export class ConnectionPool {
  readonly #maxWaitMs: number;
  readonly #monotonicMs: () => number;
  readonly #hosts = new Map<string, Host>();
  #idleCount = 0;

  /** @param options.monotonicMs  time in ms that does not jump; default: performance.now */
  constructor(options: { maxWaitMs: number; monotonicMs?: () => number }) {
    this.#maxWaitMs = options.maxWaitMs;
    this.#monotonicMs = options.monotonicMs ?? (() => performance.now());
  }

  /** The idle connection that was used last; null when there is none. It belongs to the caller until `giveBack`. */
  take(origin: string): Connection | null {
    const host = this.#hosts.get(origin);
    for (;;) {
      const connection = host?.idle.pop();
      if (!connection) return null;
      this.#idleCount -= 1;
      if (connection.isOpen()) {
        const nowMs = this.#monotonicMs();
        connection.idleMs = nowMs - connection.usedUntilMs;
        connection.usedSinceMs = nowMs;
        return connection;
      }
      this.discard(connection);
    }
  }

  /**
   * An idle connection, or permission to open one of the first 64 at the origin. With 64 open the attempt waits for one
   * that another attempt gives back. After 250 ms it may open one, at most one for each that has been in use for 50 ms.
   * Null when none of these happens within `maxWaitMs`.
   */
  acquire(origin: string): Turn | Promise<Turn | null> {
    const connection = this.take(origin);
    if (connection) return { connection, opened: nothing };
    const host = this.#hostOf(origin);
    if (host.connections.size + host.opening < SHARED_CONNECTIONS) return this.#mayOpen(origin, host);
    return new Promise((resolve) => {
      host.waiters.push({ sinceMs: this.#monotonicMs(), admit: resolve });
      if (!host.isWatched) this.#watch(origin, host);
    });
  }

  /** Wraps a new socket; the connection belongs to the caller until `giveBack` or `discard`. */
  adopt(origin: string, address: string, socket: TLSSocket): Connection {
    const host = this.#hostOf(origin);
    const client = clientOn(socket, origin);
    const nowMs = this.#monotonicMs();
    const isOpen = () => !socket.destroyed && socket.writable;
    const connection: Connection = {
      client,
      address,
      origin,
      usedSinceMs: nowMs,
      usedUntilMs: nowMs,
      idleMs: 0,
      isOpen,
    };
    client.on('disconnect', () => this.discard(connection));
    host.connections.add(connection);
    return connection;
  }

  /** Gives a connection to the attempt that has waited longest at the origin, otherwise keeps it. */
  giveBack(connection: Connection): void {
    const host = this.#hostOf(connection.origin);
    if (!connection.isOpen()) this.discard(connection);
    else if (host.waiters.length > 0) {
      connection.usedSinceMs = this.#monotonicMs();
      connection.idleMs = 0;
      host.waiters.shift()!.admit({ connection, opened: nothing });
    } else if (this.#idleCount >= MAX_IDLE) this.discard(connection);
    else {
      connection.usedUntilMs = this.#monotonicMs();
      host.idle.push(connection);
      this.#idleCount += 1;
    }
  }

  discard(connection: Connection): void {
    const host = this.#hosts.get(connection.origin);
    if (!host?.connections.delete(connection)) return;
    const index = host.idle.indexOf(connection);
    if (index >= 0) {
      host.idle.splice(index, 1);
      this.#idleCount -= 1;
    }
    connection.client.destroy().catch(() => undefined);
    this.#admitNext(connection.origin, host);
  }

  /** Closes all connections, and ends all waits with null. */
  close(): void {
    for (const { waiters } of this.#hosts.values()) for (const waiter of waiters.splice(0)) waiter.admit(null);
    for (const { connections } of this.#hosts.values()) for (const connection of connections) this.discard(connection);
  }

  #hostOf(origin: string): Host {
    let host = this.#hosts.get(origin);
    if (!host) {
      host = { connections: new Set(), idle: [], opening: 0, waiters: [], isWatched: false };
      this.#hosts.set(origin, host);
    }
    return host;
  }

  #mayOpen(origin: string, host: Host): Turn {
    let isOpening = true;
    host.opening += 1;
    const opened = () => {
      if (!isOpening) return;
      isOpening = false;
      host.opening -= 1;
      this.#admitNext(origin, host);
    };
    return { connection: null, opened };
  }

  #admitNext(origin: string, host: Host): void {
    while (host.waiters.length > 0 && host.connections.size + host.opening < SHARED_CONNECTIONS) {
      host.waiters.shift()!.admit(this.#mayOpen(origin, host));
    }
    if (host.connections.size + host.opening === 0) this.#hosts.delete(origin);
  }

  #watch(origin: string, host: Host): void {
    host.isWatched = true;
    // After a stall of the event loop, answers that have arrived meanwhile are processed first.
    setTimeout(() => setImmediate(() => this.#admitLongWaiting(origin, host)), WATCH_MS);
  }

  #admitLongWaiting(origin: string, host: Host): void {
    host.isWatched = false;
    const waitedMs = () => this.#monotonicMs() - (host.waiters[0]?.sinceMs ?? Number.POSITIVE_INFINITY);
    const limit = SHARED_CONNECTIONS + this.#slowOf(host);
    while (waitedMs() >= MAX_SHARE_WAIT_MS && host.connections.size + host.opening < limit) {
      host.waiters.shift()!.admit(this.#mayOpen(origin, host));
    }
    while (waitedMs() >= this.#maxWaitMs) host.waiters.shift()!.admit(null);
    if (host.waiters.length > 0) this.#watch(origin, host);
  }

  /** How many connections wait for slow receivers. None is idle while attempts wait. */
  #slowOf({ connections }: Host): number {
    const latestMs = this.#monotonicMs() - SLOW_MS;
    return [...connections].filter(({ usedSinceMs }) => usedSinceMs < latestMs).length;
  }
}

function nothing(): void {}

function clientOn(socket: TLSSocket, origin: string): Client {
  let unused: TLSSocket | null = socket;
  const client = new Client(origin, {
    connect: (_options, callback) => {
      const given = unused;
      unused = null;
      // A client that lost its socket must not open another one: its address would be unchecked.
      // Called in a microtask, as undici expects: in a synchronous call the request is never written.
      queueMicrotask(() => (given ? callback(null, given) : callback(new Error('this connection is used up'), null)));
    },
    pipelining: 1,
    maxHeaderSize: MAX_HEADER_BYTES,
    // The deadline of the attempt bounds both.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: MAX_KEEP_ALIVE_MS,
  });
  readOverContinue(client, socket);
  return client;
}
