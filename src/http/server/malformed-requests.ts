import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { makeId } from '../../platform/clock.ts';
import type { ApiError, ErrorType } from '../api-error.ts';
import { writeProblem } from '../errors.ts';

// An import reads all exports of the module, and would load Node's client for WebSocket and fetch: 3 MB at rest.
const { METHODS, STATUS_CODES } = process.getBuiltinModule('node:http');

const LINGER_MS = 1_000;

type Refusal = { status: number; type: ErrorType; message: string; headers?: Record<string, string> };

type MalformedOptions = {
  onRefused: (status: number, requestId: string) => void;
  /** The answer to a method that no path has: 404 or, with `Allow`, 405. */
  refuseMethod: (method: string, url: string) => ApiError;
};

const REFUSALS: Record<string, Refusal> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    type: 'invalid_request',
    message: 'The request line and headers are too large together; send at most 16 KiB.',
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    status: 413,
    type: 'too_large',
    message: 'The chunk extensions of the body are too large; leave them out.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    type: 'invalid_request',
    message: 'The request did not arrive in time; send it again, faster.',
  },
};

const MALFORMED: Refusal = {
  status: 400,
  type: 'invalid_request',
  message: 'This is not a well-formed HTTP/1.1 request.',
};

const NO_TUNNEL: Refusal = {
  status: 405,
  type: 'method_not_allowed',
  message: 'CONNECT is not offered here.',
  headers: { allow: '' },
};

const REQUEST_LINE = /^([!#$%&'*+.^_`|~\w-]+) (\/\S*) HTTP\/1\.[01]\r\n/;

/**
 * Answers requests that Node's HTTP parser refuses with the service's error body: malformed HTTP, too large headers,
 * CONNECT, methods that the parser does not know. Handles the errors of every connection: for CONNECT Node removes its
 * own listener, and an unhandled error would end the process.
 */
export function answerMalformed(server: Server, { onRefused, refuseMethod }: MalformedOptions): void {
  const refused = new WeakSet<Socket>();
  const refuse = (socket: Socket, refusal: Refusal) => {
    // Bytes after the first mistake cause further errors.
    if (refused.has(socket)) return;
    refused.add(socket);
    afterEarlierAnswers(socket, () => {
      const requestId = makeId('req');
      onRefused(refusal.status, requestId);
      socket.end(writeRefusal(refusal, requestId));
      // A client that goes on sending must not keep the socket open.
      setTimeout(() => socket.destroy(), LINGER_MS).unref();
    });
  };
  server.on('connection', (socket) => socket.on('error', () => socket.destroy()));
  server.removeAllListeners('clientError');
  server.on('clientError', (error: ParseError, socket: AnsweringSocket) => {
    if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
    const [method, url] = (error.code === 'HPE_INVALID_METHOD' && unknownMethod(error.rawPacket)) || [];
    if (method !== undefined && url !== undefined) return refuse(socket, refuseMethod(method, url));
    refuse(socket, REFUSALS[error.code ?? ''] ?? MALFORMED);
  });
  server.on('connect', (_request, socket: Socket) => refuse(socket, NO_TUNNEL));
}

type ParseError = NodeJS.ErrnoException & { rawPacket?: Buffer };

/**
 * The method and path of the request at the start of a packet, if the parser fails on all requests with that method.
 */
function unknownMethod(packet: Buffer | undefined): [method: string, url: string] | null {
  const [, method, url] = REQUEST_LINE.exec(packet?.toString('latin1') ?? '') ?? [];
  return method === undefined || url === undefined || METHODS.includes(method) ? null : [method, url];
}

// Node's internal field: the answer that the socket sends next. Further answers may be queued behind it.
type AnsweringSocket = Socket & { _httpMessage?: ServerResponse | null };

/**
 * Calls back when every complete request before the mistake is answered. When the mistake is in the body of a request,
 * it calls back immediately, or never if the answer has begun: a second status line would corrupt that answer.
 */
function afterEarlierAnswers(socket: AnsweringSocket, then: () => void): void {
  const answering = socket._httpMessage;
  if (!answering) {
    if (socket.writable) then();
  } else if (answering.req.complete) {
    answering.once('finish', () => afterEarlierAnswers(socket, then));
  } else if (answering.headersSent) {
    socket.destroy();
  } else {
    then();
  }
}

function writeRefusal({ status, type, message, headers = {} }: Refusal, requestId: string): string {
  const body = writeProblem({ status, type, message, extra: {} }, requestId);
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    `X-Request-Id: ${requestId}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    '',
    body,
  ].join('\r\n');
}
