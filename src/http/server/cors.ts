import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Answer } from '../route.ts';
import { sendAnswer } from './answer.ts';
import { pathOf } from './methods.ts';

// What browsers show to a page beside the headers that CORS always allows.
const EXPOSED = [
  ...['X-Request-Id', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'Retry-After', 'Location'],
  ...['Idempotent-Replayed', 'Content-Disposition', 'Content-Range', 'Accept-Ranges', 'Allow', 'WWW-Authenticate'],
  'X-Next-Cursor',
].join(', ');

// All that the API has: with them a page can read the 404 or 405 of its request, in place of a failed preflight.
const METHODS = 'GET, HEAD, POST, PATCH, DELETE';
const PREFLIGHT_SECONDS = '600';

/**
 * Adds the CORS headers to the request's answer, whatever it will be: only for `/v1`, never for the operator's paths.
 * Cookies are never allowed, so a page can do no more than the key that it has.
 * @param origins  whose pages may call the API; empty: none
 */
export function allowOrigin({ raw }: FastifyRequest, reply: FastifyReply, origins: readonly string[]): void {
  if (origins.length === 0 || !isOfApi(raw.url)) return;
  // Also without an Origin: a cache must not give this answer to a page.
  reply.header('vary', 'Origin');
  const { origin } = raw.headers;
  if (origin === undefined || !origins.includes(origin)) return;
  reply.headers({ 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED });
}

/** Answers the preflight of a page whose origin `allowOrigin` has allowed; null for every other request. */
export function answerPreflight(request: FastifyRequest, reply: FastifyReply): FastifyReply | null {
  const { method, headers } = request.raw;
  const isPreflight = method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
  if (!isPreflight || !reply.hasHeader('access-control-allow-origin')) return null;
  const asked = headers['access-control-request-headers'];
  return sendAnswer(request, reply, {
    status: 204,
    headers: {
      'access-control-allow-methods': METHODS,
      ...(asked !== undefined && { 'access-control-allow-headers': asked }),
      'access-control-max-age': PREFLIGHT_SECONDS,
      vary: 'Origin, Access-Control-Request-Headers',
    },
  } satisfies Answer);
}

function isOfApi(url: string | undefined): boolean {
  return url !== undefined && pathOf(url).startsWith('/v1/');
}
