import type { Client, Dispatcher } from 'undici';
import { errors } from 'undici';
import type { Deadline } from './deadlines.ts';
import { codeOf, TransportError } from './transport-error.ts';

export type Answer = {
  status: number;
  headers: Record<string, string | string[]>;
  /** The first 4 KiB of the body. */
  body: Buffer;
  /** From the start of the request to its status line and headers. */
  firstByteMs: number;
  /** Whether the whole answer was read, so that the connection can carry another request. */
  isComplete: boolean;
};

export type HttpRequest = { path: string; headers: Record<string, string>; body: Buffer };

/** How much of an answer's body the log keeps; what comes after it is not waited for. */
export const MAX_BODY_BYTES = 4 * 1024;
const MAX_INFORMATIONAL = 10;

/**
 * One POST on an open connection. Once status line and headers are there the answer stands: a body that is slow,
 * endless or broken off only ends what is kept of it.
 * @throws TransportError  timeout, reset, tls or protocol, when no status line and headers came
 */
export function exchange(client: Client, request: HttpRequest, deadline: Deadline): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const handler = new AnswerReader(resolve, reject);
    deadline.onOver = () => handler.timeIsUp();
    client.dispatch({ method: 'POST', path: request.path, headers: request.headers, body: request.body }, handler);
  });
}

class AnswerReader implements Dispatcher.DispatchHandler {
  readonly #resolve: (answer: Answer) => void;
  readonly #reject: (broken: TransportError) => void;
  readonly #startedAt = performance.now();
  #controller: Dispatcher.DispatchController | null = null;
  #informational = 0;
  #head: Pick<Answer, 'status' | 'headers' | 'firstByteMs'> | null = null;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #isSettled = false;

  constructor(resolve: (answer: Answer) => void, reject: (broken: TransportError) => void) {
    this.#resolve = resolve;
    this.#reject = reject;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isSettled) controller.abort(new Error('settled before it was sent'));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Answer['headers']): void {
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
    // Copied: the parser's memory is reused after this call.
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

  timeIsUp(): void {
    if (this.#head) this.#succeed(false);
    else this.#fail(new TransportError('timeout', 'The receiver did not answer within the time for an attempt.'));
  }

  #succeed(isComplete: boolean): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#resolve({ ...this.#head!, body: Buffer.concat(this.#chunks), isComplete });
    if (!isComplete) this.#controller?.abort(new Error('the rest is not needed'));
  }

  #fail(broken: TransportError): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#reject(broken);
    this.#controller?.abort(broken);
  }
}

// undici gives these one code with a peer that closed; only the text tells them apart.
const NOT_HTTP = new Set(['bad response', 'bad upgrade']);

function exchangeError(cause: Error): TransportError {
  const code = codeOf(cause);
  const isTooLarge = cause instanceof errors.HeadersOverflowError;
  // Before the headers ended, undici calls a parser's error after a content-length this.
  const isUnreadable =
    cause instanceof errors.HTTPParserError || cause instanceof errors.ResponseContentLengthMismatchError;
  if (isTooLarge || isUnreadable || NOT_HTTP.has(cause.message)) {
    const what = isTooLarge ? 'has more than 16 KiB of headers' : 'is not valid HTTP';
    return new TransportError('protocol', `The receiver's answer ${what}.`, { cause });
  }
  if (code.startsWith('ERR_SSL')) {
    return new TransportError('tls', `The receiver ended the TLS connection (${code}).`, { cause });
  }
  return new TransportError('reset', 'The receiver closed the connection before it answered.', { cause });
}
