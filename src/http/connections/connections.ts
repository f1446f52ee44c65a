import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Log } from '../../platform/log.ts';
import { clientOf } from '../../rules/network/client-address.ts';

export type ConnectionLimits = { max: number; maxPerAddress: number };

/** Called for each connection that was closed because of a limit: an idle one, or the new one where none was idle. */
type OnClosed = (closed: ClosedConnection) => void;
export type ClosedConnection = { which: 'idle' | 'new'; limit: 'all' | 'address' };

// A client that reads nothing of its answer for this time is disconnected. Slow reading counts as reading.
const UNREAD_ANSWER_MS = 60_000;
const LOG_EVERY_MS = 10_000;

type Connection = { socket: Socket; client: string; openRequests: number };

/**
 * Limits the connections of a server, in all and for each address. At a limit the connection that has been idle longest
 * is closed, or the new one where none is idle. A connection is idle unless one of its requests waits for an answer: a
 * connection that has sent nothing or half of its headers, or that does not read its answer, is idle too.
 */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #onClosed: OnClosed;
  readonly #all = new Map<Socket, Connection>();
  readonly #countOfClient = new Map<string, number>();
  // Longest idle first.
  readonly #idle = new Set<Connection>();
  readonly #idleOfClient = new Map<string, Set<Connection>>();

  constructor(server: Server, limits: ConnectionLimits, onClosed: OnClosed) {
    this.#limits = limits;
    this.#onClosed = onClosed;
    server.on('connection', (socket) => this.#add(socket));
    // Node's own timers emit this event too: between requests, and for clients that do not read.
    server.on('timeout', (socket) => {
      if (!this.#isBusy(socket)) socket.destroy();
    });
  }

  /**
   * Keeps the connection of a request open until its answer. Returns the function to call when the answer was handed to
   * the socket, whether the client reads it or not.
   */
  requestStarted(socket: Socket): () => void {
    const connection = this.#all.get(socket);
    if (!connection) return () => undefined;
    connection.openRequests += 1;
    this.#setIdle(connection, false);
    let isAnswered = false;
    return () => {
      if (isAnswered || !this.#all.has(socket)) return;
      isAnswered = true;
      connection.openRequests -= 1;
      // Node replaces this timeout when the whole answer was sent.
      if (!socket.timeout) socket.setTimeout(UNREAD_ANSWER_MS);
      if (connection.openRequests === 0) this.#setIdle(connection, true);
    };
  }

  #add(socket: Socket): void {
    // The client reset the connection before it was accepted.
    if (socket.remoteAddress === undefined) return void socket.destroy();
    const client = clientOf(socket.remoteAddress);
    if (!this.#admit(client)) return void socket.destroy();
    const connection = { socket, client, openRequests: 0 };
    this.#all.set(socket, connection);
    this.#countOfClient.set(client, (this.#countOfClient.get(client) ?? 0) + 1);
    this.#setIdle(connection, true);
    socket.once('close', () => this.#remove(connection));
  }

  /** Whether one more connection of this client is within the limits, if need be after closing an idle one. */
  #admit(client: string): boolean {
    const isShareUsed = (this.#countOfClient.get(client) ?? 0) >= this.#limits.maxPerAddress;
    if (!isShareUsed && this.#all.size < this.#limits.max) return true;
    const [longestIdle] = (isShareUsed ? this.#idleOfClient.get(client) : this.#idle) ?? [];
    this.#onClosed({ which: longestIdle ? 'idle' : 'new', limit: isShareUsed ? 'address' : 'all' });
    if (!longestIdle) return false;
    this.#remove(longestIdle);
    longestIdle.socket.destroy();
    return true;
  }

  #remove(connection: Connection): void {
    const { socket, client } = connection;
    if (!this.#all.delete(socket)) return;
    this.#setIdle(connection, false);
    const others = this.#countOfClient.get(client)! - 1;
    if (others > 0) this.#countOfClient.set(client, others);
    else this.#countOfClient.delete(client);
  }

  #setIdle(connection: Connection, isIdle: boolean): void {
    const ofClient = this.#idleOfClient.get(connection.client) ?? new Set();
    if (isIdle) {
      this.#idle.add(connection);
      this.#idleOfClient.set(connection.client, ofClient.add(connection));
    } else {
      this.#idle.delete(connection);
      ofClient.delete(connection);
      if (ofClient.size === 0) this.#idleOfClient.delete(connection.client);
    }
  }

  #isBusy(socket: Socket): boolean {
    return (this.#all.get(socket)?.openRequests ?? 0) > 0;
  }
}

/** Logs that connections were closed: at most one line in 10 s, with their number. */
export function logClosed(log: Log, monotonicMs: () => number = () => performance.now()): OnClosed {
  let counts: Record<string, number> = {};
  let loggedAtMs = Number.NEGATIVE_INFINITY;
  return ({ which, limit }) => {
    const name = `${which}_closed_at_limit_of_${limit}`;
    counts[name] = (counts[name] ?? 0) + 1;
    if (monotonicMs() - loggedAtMs < LOG_EVERY_MS) return;
    log.warn(counts, 'connections were closed: MAX_CONNECTIONS or MAX_CONNECTIONS_PER_ADDRESS is reached');
    counts = {};
    loggedAtMs = monotonicMs();
  };
}
