import type { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Account } from '../accounts/account.ts';
import type { OpenStreams } from './connections/open-streams.ts';
import type { Call } from './route.ts';
import { NO_IDEMPOTENCY_KEY } from './route.ts';

/** What a handler is given of a request. @param signal  aborts when the request is over */
export function callOf(
  request: FastifyRequest,
  reply: FastifyReply,
  signal: AbortSignal,
): Call<unknown, unknown, unknown> {
  const contentLength = request.headers['content-length'];
  return {
    // Routes without a key have no account, and their handlers do not ask for one.
    account: request.context.account as Account,
    params: request.params,
    query: request.query,
    body: request.body,
    actor: {
      key: request.context.key,
      address: request.socket.remoteAddress ?? '',
      requestId: request.id,
    },
    signal,
    upload: {
      open() {
        continueBody(request, reply);
        return request.raw;
      },
      contentType: request.headers['content-type'] ?? '',
      contentLength: contentLength === undefined ? null : Number(contentLength),
    },
    idempotency: request.context.idempotency ?? NO_IDEMPOTENCY_KEY,
    note: (fields) => void Object.assign(request.context.notes, fields),
  };
}

/** Aborts when the request is over: the caller hung up, or has its whole answer. */
export function endOf(reply: FastifyReply): AbortController {
  const over = new AbortController();
  const abort = () => over.abort(new Error('the request is over'));
  // A caller may have hung up while its key was looked up: no other event tells of it.
  if (reply.raw.destroyed) abort();
  else reply.raw.once('close', abort);
  return over;
}

/** Lets the stream that answers a request go on for as long as the key of the request is valid. */
export function followKey(
  { context }: FastifyRequest,
  reply: FastifyReply,
  { over, stream, streams }: { over: AbortController; stream: Readable; streams: OpenStreams | undefined },
): void {
  if (!context.account || !context.key || !streams || over.signal.aborted) return;
  const remove = streams.add({ key: { shard: context.account.shard, id: context.key.id }, over, stream });
  reply.raw.once('close', remove);
}

/** Lets a caller that asked first (Expect: 100-continue) send its body. */
export function continueBody(request: FastifyRequest, reply: FastifyReply): void {
  if (request.headers.expect !== undefined) reply.raw.writeContinue();
}
