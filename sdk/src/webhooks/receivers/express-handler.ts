import type { Body } from '../verification.ts';
import { BodyParsedError, readBody } from './raw-body.ts';
import { createReceiver, NOT_A_POST, type ReceiverOptions, type Reply, TOO_LARGE } from './receiver.ts';

type NodeRequest = AsyncIterable<unknown> & {
  method?: string | undefined;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Whether reading the body has begun. */
  readableDidRead?: boolean;
  iterator?(options: { destroyOnReturn: boolean }): AsyncIterable<unknown>;
  body?: unknown;
  rawBody?: unknown;
};

type NodeResponse = {
  writeHead(status: number, headers: Record<string, string>): unknown;
  end(text?: string): unknown;
};

export type ExpressHandler = (
  request: NodeRequest,
  response: NodeResponse,
  next?: (error?: unknown) => void,
) => Promise<void>;

const ADVICE =
  'Mount this handler before express.json(), or put express.raw({ type: "application/json" }) in front of this route alone.';

/**
 * A handler for `app.post(path, handler)` of Express 4 and 5, and for `http.createServer(handler)`. It reads the raw
 * body, or uses the body that `express.raw()` or `express.text()` has read, or `request.rawBody` where a platform sets
 * it. An error of the event's handler is passed to `next`; without Express it is printed, and the answer is a 500.
 */
export function expressHandler(options: ReceiverOptions): ExpressHandler {
  const receiver = createReceiver(options);

  async function reply(request: NodeRequest): Promise<Reply> {
    if (request.method !== 'POST') return NOT_A_POST;
    const body = await rawBodyOf(request, receiver.maxBodyBytes);
    return body === null ? TOO_LARGE : await receiver.receive({ headers: request.headers, body });
  }

  return async (request, response, next) => {
    try {
      answer(response, await reply(request));
    } catch (error) {
      if (next) return next(error);
      console.error(error);
      answer(response, { status: 500, message: 'The receiver failed.' });
    }
  };
}

async function rawBodyOf(request: NodeRequest, maxBytes: number): Promise<Body | null> {
  for (const body of [request.rawBody, request.body]) {
    if (typeof body === 'string' || body instanceof Uint8Array) return body.length > maxBytes ? null : body;
  }
  if (request.readableDidRead) throw new BodyParsedError(ADVICE);
  // The connection must stay open for the answer.
  return await readBody(request.iterator?.({ destroyOnReturn: false }) ?? request, maxBytes);
}

function answer(response: NodeResponse, { status, message }: { status: number; message: string | null }): void {
  response.writeHead(status, {
    ...(message === null ? {} : { 'Content-Type': 'text/plain; charset=utf-8' }),
    ...(status === 405 ? { Allow: 'POST' } : {}),
    // The rest of the body is not read.
    ...(status === 413 ? { Connection: 'close' } : {}),
  });
  response.end(message ?? undefined);
}
