import type { IncomingMessage } from 'node:http';
import net from 'node:net';
import type { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Actor, CallerAccount } from '../accounts/account.ts';
import { clientOf } from '../rules/network/client-address.ts';
import { ApiError } from './api-error.ts';
import type { OpenStreams } from './connections/open-streams.ts';
import { type AnswerMemory, type Call, NO_IDEMPOTENCY_KEY, UNLIMITED_MEMORY } from './route.ts';

const UNREAD_RETRY_SECONDS = 5;

/** The arguments of a route's handler. @param signal  aborts when the request is over */
export function callOf(
  request: FastifyRequest,
  reply: FastifyReply,
  signal: AbortSignal,
): Call<unknown, unknown, unknown> {
  return {
    // Null for routes without a key; their handlers do not read it.
    account: request.context.account as CallerAccount,
    params: request.params,
    query: request.query,
    body: request.body,
    bodyText: request.context.bodyText,
    actor: actorOf(request),
    checkCaller: request.context.checkCaller,
    header: (name) => request.headers[name]?.toString() ?? null,
    signal,
    upload: {
      open() {
        continueBody(request, reply);
        return request.raw;
      },
      contentType: request.headers['content-type'] ?? '',
      contentLength: contentLengthOf(request.raw),
      rawQuery: isRawAudio(request) ? queryOf(request.raw) : null,
    },
    idempotency: request.context.idempotency ?? NO_IDEMPOTENCY_KEY,
    memory: memoryOf(request, reply),
    note: (fields) => void Object.assign(request.context.notes, fields),
  };
}

/** Who makes a request, as far as it was authenticated. */
export function actorOf(request: FastifyRequest): Actor {
  const { key, sessionId, user, traceparent } = request.context;
  return { key, sessionId, user, address: addressOf(request), requestId: request.id, traceparent };
}

/**
 * The address of the client: the peer of the connection, or what a trusted proxy names. Whoever is no trusted proxy
 * names nothing.
 */
export function addressOf({ ip, socket }: FastifyRequest): string {
  return net.isIP(ip) ? ip : (socket.remoteAddress ?? '');
}

function memoryOf(request: FastifyRequest, reply: FastifyReply): AnswerMemory {
  const { context } = request;
  const { unreadAnswers } = context;
  if (unreadAnswers === null) return UNLIMITED_MEMORY;
  const caller = context.account?.id ?? clientOf(addressOf(request));
  return {
    reserve(bytes) {
      admitAnswer(request, bytes);
      unreadAnswers.add(caller, bytes, reply.raw);
      context.reservedBytes += bytes;
    },
    hold(bytes) {
      admitAnswer(request, bytes);
      return unreadAnswers.hold(caller, bytes);
    },
  };
}

/** @throws ApiError  429 or 503 when too many answers are unread for another one of this size */
export function admitAnswer(request: FastifyRequest, bytes: number): void {
  const { context } = request;
  const limit = context.unreadAnswers?.exceeded(context.account?.id ?? clientOf(addressOf(request)), bytes);
  const headers = { 'retry-after': String(UNREAD_RETRY_SECONDS) };
  if (limit === 'all') {
    const message = 'Too many answers wait to be read by clients; try again in a few seconds.';
    throw new ApiError('unavailable', message, { headers });
  }
  if (limit === 'caller') {
    const rule = `At most ${context.unreadAnswers!.limits.maxBytesPerCaller / 2 ** 20} MiB of answers of an account may be unread.`;
    const message = `${rule} Read them to the end, then send the request again.`;
    throw new ApiError('rate_limited', message, { headers, extra: { retry_after: UNREAD_RETRY_SECONDS } });
  }
}

/** Whether the body is audio by itself, not a form with audio in it, at a route that takes it. */
export function isRawAudio({ headers, routeOptions }: FastifyRequest): boolean {
  return routeOptions.config.endpoint?.takesRawAudio === true && /^audio\//i.test(headers['content-type'] ?? '');
}

function queryOf({ url = '' }: IncomingMessage): string {
  const begin = url.indexOf('?');
  return begin < 0 ? '' : url.slice(begin + 1);
}

/** The length that the headers announce; null without one. */
export function contentLengthOf({ headers }: IncomingMessage): number | null {
  return headers['content-length'] === undefined ? null : Number(headers['content-length']);
}

/** Why the signal of a request aborts. One error for all requests, since making one costs more than the abort. */
export const REQUEST_OVER = new Error('the request is over');

/** Aborts when the request is over: the client hung up, or the whole answer was sent. */
export function endOf(reply: FastifyReply): AbortController {
  const over = new AbortController();
  const abort = () => over.abort(REQUEST_OVER);
  // The client may have hung up while its key was looked up: then `close` was emitted already.
  if (reply.raw.destroyed) abort();
  else reply.raw.once('close', abort);
  return over;
}

/** Ends the stream that answers a request when the key of the request becomes invalid. */
export function followKey(
  { context }: FastifyRequest,
  reply: FastifyReply,
  { over, stream, streams }: { over: AbortController; stream: Readable; streams: OpenStreams | undefined },
): void {
  if (!context.account || !context.key || !streams || over.signal.aborted) return;
  const remove = streams.add({
    key: {
      shard: context.account.shard,
      id: context.key.id,
      accountId: context.account.id,
      sessionId: context.sessionId,
    },
    over,
    stream,
  });
  reply.raw.once('close', remove);
}

/** Answers 100 to a client that waits for it before it sends the body (Expect: 100-continue). */
export function continueBody(request: FastifyRequest, reply: FastifyReply): void {
  if (request.headers.expect !== undefined) reply.raw.writeContinue();
}
