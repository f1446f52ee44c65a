import type { TLSSocket } from 'node:tls';
import { Client } from 'undici';

/** One kept-alive connection to one judged address. */
export type Connection = {
  client: Client;
  address: string;
  /** False once the socket is gone; the next request needs another connection. */
  isOpen(): boolean;
};

export type ConnectionPool = {
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

/** Idle connections by origin, each pinned to the address it was opened to. A fresh one costs thirty times a reused one. */
export function openConnectionPool(): ConnectionPool {
  const idle = new Map<string, Connection[]>();
  const all = new Set<Connection>();
  let idleCount = 0;

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
    take,
    adopt,
    giveBack,
    discard,
    close: () => all.forEach(discard),
  };
}
