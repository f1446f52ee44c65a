import type { TLSSocket } from 'node:tls';
import Client from 'undici/lib/dispatcher/client.js';

/** One persistent connection to one checked address. */
export type Connection = {
  client: Client;
  address: string;
  /** False when the socket is closed; the next request needs another connection. */
  isOpen(): boolean;
};

const KEEP_ALIVE_MS = 10_000;
const MAX_KEEP_ALIVE_MS = 60_000;
const MAX_IDLE = 2_048;
const MAX_HEADER_BYTES = 16 * 1024;

/** Idle connections by origin, each bound to one address. A new connection costs thirty times a reused one. */
export class ConnectionPool {
  readonly #idle = new Map<string, Connection[]>();
  readonly #all = new Set<Connection>();
  #idleCount = 0;

  /** The idle connection that was used last; null when there is none. It belongs to the caller until `giveBack`. */
  take(origin: string): Connection | null {
    for (;;) {
      const connection = this.#idle.get(origin)?.at(-1);
      if (!connection) return null;
      this.#removeIdle(origin, connection);
      if (connection.isOpen()) return connection;
      this.discard(connection);
    }
  }

  /** Wraps a new socket; the connection belongs to the caller until `giveBack`. */
  adopt(origin: string, address: string, socket: TLSSocket): Connection {
    const client = clientOn(socket, origin);
    const connection: Connection = { client, address, isOpen: () => !socket.destroyed && socket.writable };
    client.on('disconnect', () => {
      this.#removeIdle(origin, connection);
      this.discard(connection);
    });
    this.#all.add(connection);
    return connection;
  }

  giveBack(origin: string, connection: Connection): void {
    if (!connection.isOpen() || this.#idleCount >= MAX_IDLE) {
      this.discard(connection);
      return;
    }
    const stack = this.#idle.get(origin);
    if (stack) stack.push(connection);
    else this.#idle.set(origin, [connection]);
    this.#idleCount += 1;
  }

  discard(connection: Connection): void {
    if (this.#all.delete(connection)) connection.client.destroy().catch(() => undefined);
  }

  close(): void {
    for (const connection of this.#all) this.discard(connection);
  }

  #removeIdle(origin: string, connection: Connection): void {
    const stack = this.#idle.get(origin);
    const index = stack?.lastIndexOf(connection) ?? -1;
    if (!stack || index < 0) return;
    stack.splice(index, 1);
    this.#idleCount -= 1;
    if (stack.length === 0) this.#idle.delete(origin);
  }
}

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
