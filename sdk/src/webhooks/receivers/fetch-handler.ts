import { BodyParsedError, readBody } from './raw-body.ts';
import { createReceiver, NOT_A_POST, type ReceiverOptions, type Reply, TOO_LARGE } from './receiver.ts';

export type FetchHandler = (request: Request) => Promise<Response>;

/**
 * A handler from Request to Response, for Hono, Next.js, Remix, SvelteKit, Bun, Deno and edge platforms. An error of
 * the event's handler is thrown; those servers answer it with a 500.
 */
export function fetchHandler(options: ReceiverOptions): FetchHandler {
  const receiver = createReceiver(options);

  async function reply(request: Request): Promise<Reply> {
    if (request.method !== 'POST') return NOT_A_POST;
    if (request.bodyUsed) {
      throw new BodyParsedError('Call this handler before request.json() or request.text(), or on request.clone().');
    }
    const body = await readBody(request.body ?? none(), receiver.maxBodyBytes);
    return body === null ? TOO_LARGE : await receiver.receive({ headers: request.headers, body });
  }

  return async (request) => {
    const { status, message } = await reply(request);
    const headers = {
      ...(message === null ? {} : { 'Content-Type': 'text/plain; charset=utf-8' }),
      ...(status === 405 ? { Allow: 'POST' } : {}),
    };
    return new Response(message, { status, headers });
  };
}

async function* none(): AsyncGenerator<Uint8Array> {}
