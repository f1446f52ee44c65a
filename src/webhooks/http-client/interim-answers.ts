import type { Duplex } from 'node:stream';
import type { Client } from 'undici';

type Parser = { onHeadersComplete(status: number, ...rest: unknown[]): number };

const CONTINUE = 100;
const PROCESSING = 102;

/**
 * Lets a client read over `100 Continue`, as RFC 9110 section 15.2 asks for: undici ends the connection at this status
 * when the request had no `Expect`, but reports every other interim answer. Its parser is told that the status was 102.
 * @param socket  the connected socket of the client
 */
export function readOverContinue(client: Client, socket: Duplex): void {
  client.once('connect', () => {
    const parser = parserOf(socket);
    // Null after an early end of the socket.
    if (!parser) return;
    const onHeadersComplete = parser.onHeadersComplete.bind(parser);
    parser.onHeadersComplete = (status, ...rest) =>
      onHeadersComplete(status === CONTINUE ? PROCESSING : status, ...rest);
  });
}

/** undici names no export for it. A test of `post` fails when it is no longer found. */
function parserOf(socket: Duplex): Parser | null | undefined {
  const symbol = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'parser');
  return symbol && (socket as unknown as Record<symbol, Parser | null>)[symbol];
}
