import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { clientOf } from '../../rules/network/client-address.ts';
import { JSON_TYPE, renderAnswer } from '../answer-text.ts';
import { ApiError } from '../api-error.ts';
import { admitAnswer } from '../call.ts';
import { problemOf, writeProblem } from '../errors.ts';
import type { Answer } from '../route.ts';
import { answerThenDrain, isUnread } from './body.ts';

// An answer is for its client only, and browsers must not run anything in it.
const COMMON_HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

/** Sends an answer. Every answer, also to a request that failed, is sent by this function. */
export function sendAnswer(request: FastifyRequest, reply: FastifyReply, answer: Answer): FastifyReply {
  // Fastify closes the connection after every body that it could not parse. A body that was read to its end needs no
  // close. After a removal Node does not announce the end of a connection that has carried all the requests that it
  // may.
  if (!isUnread(request.raw) && reply.hasHeader('connection')) reply.removeHeader('connection');
  const cookies = answer.cookies && { 'set-cookie': answer.cookies };
  reply.code(answer.status).headers({ ...COMMON_HEADERS, 'x-request-id': request.id, ...answer.headers, ...cookies });
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

/**
 * The error to answer instead when too many answers are unread. The answer of a request that changed something is
 * always sent, and so is one that was counted before it was made.
 */
function countUnread(request: FastifyRequest, reply: FastifyReply, bytes: number): ApiError | null {
  const { context, method, ip } = request;
  try {
    if (method === 'GET' && context.reservedBytes === 0) admitAnswer(request, bytes);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  context.unreadAnswers?.add(context.account?.id ?? clientOf(ip), bytes - context.reservedBytes, reply.raw);
  return null;
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
