import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { makeId } from '../../platform/clock.ts';
import type { ErrorType } from '../api-error.ts';
import { writeProblem } from '../errors.ts';

const LINGER_MS = 1_000;

type Refusal = { status: number; phrase: string; type: ErrorType; message: string };

const REFUSALS: Record<string, Refusal> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    phrase: 'Request Header Fields Too Large',
    type: 'invalid_request',
    message: 'The request line and headers are too large together; send at most 16 KiB.',
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    status: 413,
    phrase: 'Content Too Large',
    type: 'too_large',
    message: 'The chunk extensions of the body are too large; leave them out.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    phrase: 'Request Timeout',
    type: 'invalid_request',
    message: 'The request did not arrive in time; send it again, faster.',
  },
};

const MALFORMED: Refusal = {
  status: 400,
  phrase: 'Bad Request',
  type: 'invalid_request',
  message: 'This is not a well-formed HTTP/1.1 request.',
};

const NO_TUNNEL: Refusal = {
  status: 405,
  phrase: 'Method Not Allowed',
  type: 'method_not_allowed',
  message: 'CONNECT is not offered here.',
};

/**
 * Answers requests that Node's HTTP parser refuses with the service's error body: malformed HTTP, too large headers,
 * CONNECT. Handles the errors of every connection: for CONNECT Node removes its own listener, and an unhandled error would
 * end the process.
 */
export function answerMalformed(server: Server, onRefused: (status: number, requestId: string) => void): void {
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
  server.on('clientError', (error: NodeJS.ErrnoException, socket: AnsweringSocket) => {
    if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
    refuse(socket, REFUSALS[error.code ?? ''] ?? MALFORMED);
  });
  server.on('connect', (_request, socket: Socket) => refuse(socket, NO_TUNNEL));
}

// Node's internal field: the answer that the socket sends next. Further answers may be queued behind it.
type AnsweringSocket = Socket & { _httpMessage?: ServerResponse | null };

/**
 * Calls back when every complete request before the mistake is answered. When the mistake is in the body of a request, it
 * calls back immediately, or never if the answer has begun: a second status line would corrupt that answer.
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

function writeRefusal({ status, phrase, type, message }: Refusal, requestId: string): string {
  const body = writeProblem({ status, type, message, extra: {} }, requestId);
  return [
    `HTTP/1.1 ${status} ${phrase}`,
    'Connection: close',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    `X-Request-Id: ${requestId}`,
    ...(status === 405 ? ['Allow: '] : []),
    '',
    body,
  ].join('\r\n');
}
