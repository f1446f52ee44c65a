import type { Client, Dispatcher } from 'undici';
import type { Deadline } from '../../egress/deadlines.ts';
import { exchangeError } from '../../egress/exchange-error.ts';
import { TransportError } from '../../egress/transport-error.ts';

export type HttpRequest = { path: string; headers: Record<string, string>; body: Buffer };

export type HttpResponse = {
  status: number;
  headers: Record<string, string | string[]>;
  /** The first 4 KiB of the body. */
  body: Buffer;
  /** From the start of the request to its status line and headers. */
  firstByteMs: number;
  /** The whole response was read: the connection can carry another request. */
  isComplete: boolean;
};

/** How much of a response body the log keeps; the rest is not read. */
const MAX_BODY_BYTES = 4 * 1024;
const MAX_INFORMATIONAL = 10;
const NOTHING = Buffer.alloc(0);

/**
 * Sends one POST on an open connection. The response counts as soon as its headers have arrived: when the body is slow,
 * endless or incomplete, `body` is only shorter.
 * @throws TransportError  timeout, reset, tls or protocol, when no headers arrived
 */
export function exchange(client: Client, request: HttpRequest, deadline: Deadline): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const handler = new ResponseReader(resolve, reject);
    deadline.onExpired = () => handler.expire();
    client.dispatch({ method: 'POST', path: request.path, headers: request.headers, body: request.body }, handler);
  });
}

class ResponseReader implements Dispatcher.DispatchHandler {
  readonly #resolve: (response: HttpResponse) => void;
  readonly #reject: (error: TransportError) => void;
  readonly #startedAt = performance.now();
  #controller: Dispatcher.DispatchController | null = null;
  #informational = 0;
  #head: Pick<HttpResponse, 'status' | 'headers' | 'firstByteMs'> | null = null;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #isSettled = false;

  constructor(resolve: (response: HttpResponse) => void, reject: (error: TransportError) => void) {
    this.#resolve = resolve;
    this.#reject = reject;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isSettled) controller.abort(new Error('settled before it was sent'));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: HttpResponse['headers']): void {
    if (status >= 200) {
      this.#head = { status, headers, firstByteMs: performance.now() - this.#startedAt };
    } else if (++this.#informational > MAX_INFORMATIONAL) {
      this.#fail(
        new TransportError('protocol', `The receiver sent more than ${MAX_INFORMATIONAL} informational answers.`),
      );
    }
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isSettled) return;
    // A copy: the parser reuses its memory after this call.
    this.#chunks.push(Buffer.from(chunk.subarray(0, MAX_BODY_BYTES - this.#bytes)));
    this.#bytes += chunk.length;
    if (this.#bytes > MAX_BODY_BYTES) this.#succeed(false);
  }

  onResponseEnd(): void {
    this.#succeed(true);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#head) this.#succeed(false);
    else this.#fail(exchangeError(error));
  }

  expire(): void {
    if (this.#head) this.#succeed(false);
    else this.#fail(new TransportError('timeout', 'The receiver did not answer within the time for an attempt.'));
  }

  #succeed(isComplete: boolean): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#resolve({
      ...this.#head!,
      body: this.#chunks.length === 0 ? NOTHING : Buffer.concat(this.#chunks),
      isComplete,
    });
    if (!isComplete) this.#controller?.abort(new Error('the rest is not needed'));
  }

  #fail(error: TransportError): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#reject(error);
    this.#controller?.abort(error);
  }
}
