import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { WebSocketServer } from 'ws';
import { ApiError } from '../api-error.ts';
import type { Upgrade } from '../route.ts';
import { OpenSocket } from '../websocket/open-socket.ts';

// An import of node:http would load all of it, Node's own client for WebSocket too: 3 MB.
const { ServerResponse: Response } = process.getBuiltinModule('node:http');

const VERSION = '13';
const CLOSE_TIMEOUT_MS = 5_000;
// Messages come whole from nearly all clients; each fragment of a message costs memory of its own.
const MAX_FRAGMENTS = 64;
const MAX_BUFFERED_CHUNKS = 8_192;
const COMMON = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  // One frame in each turn of the event loop: 64 KiB, which one read brings, may hold 10,000 frames.
  allowSynchronousEvents: false,
  autoPong: true,
  closeTimeout: CLOSE_TIMEOUT_MS,
  maxFragments: MAX_FRAGMENTS,
  maxBufferedChunks: MAX_BUFFERED_CHUNKS,
};

// Node's internal field: the answer that the socket sends next. A second one cannot be assigned to it.
type AnsweringSocket = Socket & { _httpMessage?: ServerResponse | null };

const handshakes = new WeakMap<IncomingMessage, { socket: Socket; head: Buffer }>();

/** For Node's server: whether a request asks for a WebSocket. Any other `Upgrade` is ignored, as RFC 9110 permits. */
export function asksForWebSocket({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';
}

/**
 * Passes handshakes through the server's routes, with all of their checks and answers: a route that answers with an
 * `upgrade` gets the connection.
 */
export function routeHandshakes(
  server: Server,
  route: (request: IncomingMessage, response: ServerResponse) => void,
): void {
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    // Node has taken its listener off.
    socket.on('error', () => socket.destroy());
    // An earlier request of the connection has no answer yet. No client of WebSocket sends one.
    if ((socket as AnsweringSocket)._httpMessage) return void socket.destroy();
    handshakes.set(request, { socket, head });
    const response = new Response(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.once('finish', () => {
      response.detachSocket(socket);
      socket.destroySoon();
    });
    socket.once('close', () => response.emit('close'));
    route(request, response);
  });
}

/**
 * Checks the headers of a handshake (RFC 6455, section 4.2.1).
 * @throws ApiError  400 where the request asks for no WebSocket
 */
export function requireHandshake(header: (name: string) => string | null): void {
  const refuse = (param: string, message: string) => new ApiError('invalid_request', message, { param });
  if (header('upgrade')?.toLowerCase() !== 'websocket') {
    throw refuse('Upgrade', 'This endpoint is a WebSocket: connect to it with a WebSocket client.');
  }
  if (header('sec-websocket-version') !== VERSION) {
    throw refuse('Sec-WebSocket-Version', `Sec-WebSocket-Version must be ${VERSION}.`);
  }
  if (!/^[+/0-9A-Za-z]{22}==$/.test(header('sec-websocket-key') ?? '')) {
    throw refuse('Sec-WebSocket-Key', 'Sec-WebSocket-Key must be 16 bytes in base64.');
  }
}

/** The subprotocols that a client offers, in its order. */
export function offeredProtocols(header: (name: string) => string | null): string[] {
  const offered = header('sec-websocket-protocol') ?? '';
  return offered
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** Answers 101 and hands the connection over. The end of the connection ends the request, for its log line. */
export function upgradeRequest(request: FastifyRequest, reply: FastifyReply, upgrade: Upgrade): FastifyReply {
  const handshake = handshakes.get(request.raw);
  if (!handshake) throw new Error('a request without a handshake cannot be upgraded');
  const { socket, head } = handshake;
  reply.hijack();
  reply.raw.statusCode = 101;
  reply.raw.removeAllListeners('finish');
  reply.raw.detachSocket(socket);
  let isOpen = false;
  serverFor(upgrade.maxMessageBytes).handleUpgrade(
    Object.assign(request.raw, { protocolToSelect: upgrade.protocol }),
    socket,
    head,
    (webSocket) => {
      isOpen = true;
      const open = new OpenSocket(webSocket, socket, upgrade.budget);
      open.use(upgrade.open(open));
    },
  );
  if (!isOpen) upgrade.abandon();
  return reply;
}

const servers = new Map<number, WebSocketServer>();

function serverFor(maxPayload: number): WebSocketServer {
  const known = servers.get(maxPayload);
  if (known) return known;
  const handleProtocols = (_: Set<string>, request: IncomingMessage) =>
    (request as IncomingMessage & { protocolToSelect?: string | null }).protocolToSelect ?? false;
  const server = new WebSocketServer({ ...COMMON, maxPayload, handleProtocols });
  servers.set(maxPayload, server);
  return server;
}
