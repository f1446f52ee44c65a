import type { TLSSocket } from 'node:tls';
import Client from 'undici/lib/dispatcher/client.js';

/** One persistent connection to one checked address. */
export type Connection = {
  client: Client;
  origin: string;
  address: string;
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
type Host = { idle: Connection[]; open: number; opening: number; waiters: Waiter[]; isWatched: boolean };

const KEEP_ALIVE_MS = 10_000;
const MAX_KEEP_ALIVE_MS = 60_000;
const MAX_IDLE = 2_048;
const MAX_HEADER_BYTES = 16 * 1024;
// Enough to keep a processor busy, and four times what one webhook has in flight: attempts rarely wait.
const SHARED_CONNECTIONS = 64;
// After this wait an attempt opens a connection beyond these: those in use may belong to slow webhooks.
const MAX_SHARE_WAIT_MS = 250;
const WATCH_MS = 50;

/**
 * Idle connections by origin, each bound to one address. Attempts at one origin share them: a new connection costs thirty
 * times a reused one, and in a burst each attempt would open one.
 */
export class ConnectionPool {
  readonly #maxWaitMs: number;
  readonly #hosts = new Map<string, Host>();
  readonly #all = new Set<Connection>();
  #idleCount = 0;

  constructor({ maxWaitMs }: { maxWaitMs: number }) {
    this.#maxWaitMs = maxWaitMs;
  }

  /** The idle connection that was used last; null when there is none. It belongs to the caller until `giveBack`. */
  take(origin: string): Connection | null {
    const host = this.#hosts.get(origin);
    for (;;) {
      const connection = host?.idle.pop();
      if (!connection) return null;
      this.#idleCount -= 1;
      if (connection.isOpen()) return connection;
      this.discard(connection);
    }
  }

  /**
   * An idle connection, or permission to open one of the first 64 at the origin. With 64 open the attempt waits for one that
   * another attempt gives back; after 250 ms it may open one. Null when neither happens within `maxWaitMs`.
   */
  acquire(origin: string): Turn | Promise<Turn | null> {
    const connection = this.take(origin);
    if (connection) return reuse(connection);
    const host = this.#hostOf(origin);
    if (host.open + host.opening < SHARED_CONNECTIONS) return this.#mayOpen(origin, host);
    return new Promise((resolve) => {
      host.waiters.push({ sinceMs: performance.now(), admit: resolve });
      if (!host.isWatched) this.#watch(origin, host);
    });
  }

  /** Wraps a new socket; the connection belongs to the caller until `giveBack` or `discard`. */
  adopt(origin: string, address: string, socket: TLSSocket): Connection {
    const host = this.#hostOf(origin);
    const client = clientOn(socket, origin);
    const connection: Connection = { client, address, origin, isOpen: () => !socket.destroyed && socket.writable };
    client.on('disconnect', () => this.discard(connection));
    this.#all.add(connection);
    host.open += 1;
    return connection;
  }

  /** Gives a connection to the attempt that has waited longest at the origin, otherwise keeps it. */
  giveBack(connection: Connection): void {
    const host = this.#hostOf(connection.origin);
    if (!connection.isOpen()) this.discard(connection);
    else if (host.waiters.length > 0) host.waiters.shift()!.admit(reuse(connection));
    else if (this.#idleCount >= MAX_IDLE) this.discard(connection);
    else {
      host.idle.push(connection);
      this.#idleCount += 1;
    }
  }

  discard(connection: Connection): void {
    if (!this.#all.delete(connection)) return;
    const host = this.#hostOf(connection.origin);
    const index = host.idle.indexOf(connection);
    if (index >= 0) {
      host.idle.splice(index, 1);
      this.#idleCount -= 1;
    }
    host.open -= 1;
    connection.client.destroy().catch(() => undefined);
    this.#admitNext(connection.origin, host);
  }

  /** Closes all connections, and ends all waits with null. */
  close(): void {
    for (const { waiters } of this.#hosts.values()) for (const waiter of waiters.splice(0)) waiter.admit(null);
    for (const connection of this.#all) this.discard(connection);
  }

  #hostOf(origin: string): Host {
    let host = this.#hosts.get(origin);
    if (!host) {
      host = { idle: [], open: 0, opening: 0, waiters: [], isWatched: false };
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
    while (host.waiters.length > 0 && host.open + host.opening < SHARED_CONNECTIONS) {
      host.waiters.shift()!.admit(this.#mayOpen(origin, host));
    }
    if (host.open + host.opening === 0) this.#hosts.delete(origin);
  }

  #watch(origin: string, host: Host): void {
    host.isWatched = true;
    setTimeout(() => {
      host.isWatched = false;
      const waitedMs = () => performance.now() - (host.waiters[0]?.sinceMs ?? Number.POSITIVE_INFINITY);
      while (waitedMs() >= MAX_SHARE_WAIT_MS && host.opening < SHARED_CONNECTIONS) {
        host.waiters.shift()!.admit(this.#mayOpen(origin, host));
      }
      while (waitedMs() >= this.#maxWaitMs) host.waiters.shift()!.admit(null);
      if (host.waiters.length > 0) this.#watch(origin, host);
    }, WATCH_MS);
  }
}

function reuse(connection: Connection): Turn {
  return { connection, opened: nothing };
}

function nothing(): void {}

function clientOn(socket: TLSSocket, origin: string): Client {
  let unused: TLSSocket | null = socket;
  return new Client(origin, {
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
}
