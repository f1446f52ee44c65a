import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type net from 'node:net';
import { FetchError } from './fetch-error.ts';

/** The status line and headers of an answer, and its unread body. */
export type HttpAnswer = { status: number; headers: IncomingHttpHeaders; body: IncomingMessage };

// An import reads all exports of the module, and would load Node's client for WebSocket and fetch: 3 MB at rest.
const http = process.getBuiltinModule('node:http');

const MAX_HEADER_BYTES = 16 * 1024;

/**
 * Sends one GET on an open connection. The connection is closed when the body has ended or is destroyed.
 * @param path       with the query
 * @param headersMs  time for the answer's headers, however many informational answers come before
 * @throws FetchError  timeout or connect
 */
export function exchange(
  socket: net.Socket,
  { path, headers, headersMs }: { path: string; headers: Record<string, string>; headersMs: number },
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const request = http.request({
      createConnection: () => socket,
      path,
      headers,
      maxHeaderSize: MAX_HEADER_BYTES,
      setDefaultHeaders: false,
    });
    const timer = setTimeout(() => {
      fail(new FetchError('timeout', `The server did not answer within ${headersMs / 1000} seconds.`));
    }, headersMs);
    function fail(error: FetchError): void {
      clearTimeout(timer);
      request.destroy();
      socket.destroy();
      reject(error);
    }
    request.on('error', (cause) => fail(brokenExchange(cause)));
    // An upgrade was not asked for.
    request.on('upgrade', () => fail(new FetchError('connect', 'The answer of the server is not valid HTTP.')));
    request.on('response', (body) => {
      clearTimeout(timer);
      // The reader of the body gets the error; this listener keeps an early one from ending the process.
      body.on('error', () => undefined);
      resolve({ status: body.statusCode!, headers: body.headers, body });
    });
    request.end();
  });
}

function brokenExchange(cause: Error): FetchError {
  const code = String((cause as NodeJS.ErrnoException).code ?? '');
  const message = code.startsWith('HPE_')
    ? 'The answer of the server is not valid HTTP.'
    : 'The server closed the connection before it answered.';
  return new FetchError('connect', message, { cause });
}
