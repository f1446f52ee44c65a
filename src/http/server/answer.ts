import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { clientOf } from '../../rules/network/client-address.ts';
import { JSON_TYPE, renderAnswer } from '../answer-text.ts';
import { ApiError } from '../api-error.ts';
import { problemOf, writeProblem } from '../errors.ts';
import type { Answer } from '../route.ts';
import { answerThenDrain, isUnread } from './body.ts';

const UNREAD_RETRY_SECONDS = 5;
// An answer is for its client only, and browsers must not run anything in it.
const COMMON_HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

/** Sends an answer. Every answer, also to a request that failed, is sent by this function. */
export function sendAnswer(request: FastifyRequest, reply: FastifyReply, answer: Answer): FastifyReply {
  // Fastify closes the connection after every body that it could not parse. A body that was read to its end needs no close.
  // After a removal Node does not announce the end of a connection that has carried all the requests that it may.
  if (!isUnread(request.raw) && reply.hasHeader('connection')) reply.removeHeader('connection');
  reply.code(answer.status).headers({ ...COMMON_HEADERS, 'x-request-id': request.id, ...answer.headers });
  if (answer.stream) return sendStream(request, reply, answer.stream, answer.contentType ?? JSON_TYPE);
  const rendered = renderAnswer(answer);
  const text = rendered?.body ?? '';
  const refusal = countUnread(request, reply, Buffer.byteLength(text));
  if (refusal) {
    request.context.failure = refusal;
    return sendProblem(request, reply, refusal);
  }
  request.context.answered();
  if (rendered) reply.type(rendered.contentType);
  if (!isUnread(request.raw)) return rendered ? reply.send(text) : reply.send();
  reply.headers({ connection: 'close', 'content-length': String(Buffer.byteLength(text)) });
  return reply.send(answerThenDrain(text, request.raw));
}

/** The error to answer instead when too many answers are unread. The answer of a request that changed something is always sent. */
function countUnread({ context, method, ip }: FastifyRequest, reply: FastifyReply, bytes: number): ApiError | null {
  const caller = context.account?.id ?? clientOf(ip);
  const unread = context.unreadAnswers;
  const limit = method === 'GET' ? unread?.exceeded(caller, bytes) : null;
  if (limit) return tooManyUnread(limit, unread!.limits.maxBytesPerCaller);
  unread?.add(caller, bytes, reply.raw);
  return null;
}

function tooManyUnread(limit: 'caller' | 'all', maxBytes: number): ApiError {
  const headers = { 'retry-after': String(UNREAD_RETRY_SECONDS) };
  if (limit === 'all') {
    return new ApiError('unavailable', 'Too many answers wait to be read by clients; try again in a few seconds.', {
      headers,
    });
  }
  const rule = `At most ${maxBytes / 2 ** 20} MiB of answers of an account may be unread.`;
  const message = `${rule} Read them to the end, then send the request again.`;
  return new ApiError('rate_limited', message, { headers, extra: { retry_after: UNREAD_RETRY_SECONDS } });
}

function sendStream(request: FastifyRequest, reply: FastifyReply, stream: Readable, type: string): FastifyReply {
  reply.raw.once('close', request.context.answered);
  reply.type(type);
  // The stream would never be read and never end.
  if (request.method === 'HEAD') {
    stream.destroy();
    return reply.send(Readable.from([]));
  }
  stream.once('error', (error) => {
    request.context.failure = error;
  });
  return reply.send(stream);
}

/** The answer to a request that failed. */
export function answerProblem(request: FastifyRequest, error: unknown): Answer {
  const problem = problemOf(error);
  const { status, headers } = problem;
  return { status, headers, body: writeProblem(problem, request.id), contentType: JSON_TYPE };
}

/** Answers a request that failed. */
export function sendProblem(request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply {
  return sendAnswer(request, reply, answerProblem(request, error));
}
